package dev.holdfast.testkit.sim;

/** What the oracles of the simulation look after; the numbers are those of the page of the guarantees. */
public enum Rule {
    /** The store lets nobody in beyond the capacity. */
    ONE_HOLDER("A1", "one holder at the store"),
    /** The store lets no writer in beside anybody. */
    READERS_OR_WRITER("A2", "readers share, a writer is alone"),
    /** The store gives no more permits than there are; those of before a resizing stay. */
    PERMITS("A3", "no more permits than there are"),
    /** On a fair resource waiters are served in the order in which they came. */
    IN_ORDER("A4", "first come, first served"),
    /** Who waits for more than there is left waits no longer. */
    RESIZED("A11", "nobody waits for what can never be"),
    /** A duplicate that comes late does nothing. */
    NOTHING_OLD("I2", "nothing old takes effect"),
    /** A claim ends by its time, by its client or by force, and by nothing else. */
    NOT_ANOTHERS("R1", "nobody ends another's claim"),
    /** A grant keeps its weight until part of it is given back, and then has what was asked for. */
    SHRUNK("R4", "what is given back is given back once"),
    /** Who sets a count that is set learns that one. */
    SET_ONCE("K1", "a count is set once"),
    /** A latch has what is left of its count, and not less than nothing. */
    COUNTED_TO_ZERO("K2", "a latch counts to zero"),
    /** One id lowers a count once. */
    COUNTED_ONCE("K3", "an id counts once"),
    /** A count-down of another generation does nothing. */
    COUNTS_ITS_GENERATION("K4", "a count-down is for one generation"),
    /** Who waits passes in the step in which the latch opens, and not before. */
    PASSED_TOGETHER("K5", "all pass when a latch opens"),
    /** When all clients are closed the store shows nothing of them. */
    NOTHING_LEFT("R5", "nothing is left behind"),
    /** What is over its time keeps nobody out. */
    DEAD_GIVE_WAY("S2", "the dead give way"),
    /** No session, and nothing that ended with one, comes back. */
    NO_REVIVAL("S4", "no revival"),
    /** Every grant and every hand-over has a token above all before it. */
    TOKENS_RISE("T1", "tokens rise"),
    /** What is free and waited for is taken within a third of a ttl and a command. */
    NOBODY_WAITS_FOR_EVER("W3", "nobody waits for ever"),
    /** Nobody believes in a hold that the store has ended or given to another. */
    EXCLUSION("C1", "exclusion in true time"),
    /** A loss is told once, as soon as the hold is over. */
    LOSS_IS_TOLD("C2", "loss is told once, in time"),
    /** A hold that was over or lost is never seen held again. */
    LOST_STAYS_LOST("C3", "what is lost stays lost"),
    /** A hold shows the token that it was granted with, and none after its end. */
    OWN_TOKEN("C4", "a token of one's own"),
    /** Who was refused or has cancelled never holds, and leaves no claim at the store. */
    GIVEN_UP("C5", "what was given up never holds"),
    /** A second release does nothing, and says so in its own way. */
    ONLY_THE_OWNER("C6", "only the owner releases"),
    /** A request ends once, for a reason that it has. */
    THREE_OUTCOMES("C7", "granted, refused or unknown"),
    /** Nothing is passed on from a hold that was over. */
    NO_LATE_HAND_OFF("C8", "no hand-off past the deadline"),
    /** A closed client grants nothing, keeps nobody waiting and sends nothing. */
    CLOSED("C9", "closed is closed"),
    /** No write of an earlier grant comes after one of a later grant. */
    GUARDED("C11", "stale writes are refused"),
    /** What was released in time was good to the end, and is gone at the store. */
    RELEASED_IS_GONE("C13", "released is gone"),
    /** Where nothing is disturbed nothing is lost. */
    HEALTHY_KEEPS("C14", "a healthy holder keeps its lock"),
    /** Requests, releases and doubts end in time, and in the end everybody is served. */
    EVERYTHING_ENDS("C15", "everything ends"),
    /** Of two acquisitions by one owner the first release ends nothing. */
    ONLY_THE_LAST_RELEASE("C16", "only the last release ends a hold"),
    /** Who waits is passed by a bounded number of times. */
    NOBODY_STARVES("C17", "nobody starves"),
    /** A detached hold is lost when its lease is over, and before that through nothing that becomes of its client. */
    DETACHED_LASTS("P5", "a detached hold needs no session"),
    /** Who is told that it has set a count has, and who is not has not. */
    ONE_SETTER("N1", "one is told that it has set the count"),
    /** Who passes a latch, or is told that it is open, was asking when it was. */
    PASSED("N2", "nobody passes before zero"),
    /** Who is told that it counted has. */
    COUNTED("N3", "who counted down has counted"),
    /** A count-down does nothing to what is set after it. */
    COUNTS_ITS_OWN("N4", "no count-down for a later generation"),
    /** Terms are those that the store gave, and rise. */
    ONE_LEADER("E1", "one leader at a time, in rising terms"),
    /** Beginning and end of a term are told once each, in turn. */
    TERMS_ARE_TOLD("E2", "terms are told in order"),
    /** Nobody leads in a term that is over at the store, and its end is told. */
    LEADS_NO_MORE("E3", "who is not the leader leads no more"),
    /** What is given up stays at the store until its candidate is told. */
    KEPT_TO_THE_END("E4", "a term is kept until its candidate is done"),
    /** Who has left an election is not elected. */
    WHO_LEFT_LEADS_NO_MORE("E6", "who left is not elected"),
    /** A closed client has no candidates. */
    CAMPAIGNS_END("E9", "closing ends campaigns"),
    /** What a majority of a quorum's members has is kept, whichever of them go and come back one after another. */
    OUTLIVES_MEMBERS("Q9", "a hold outlives its members, one after another"),
    /** Nothing throws what nobody catches. Not a promise to users. */
    NO_EXCEPTION("", "no exception escapes"),
    /** The same seed is the same run. Not a promise to users, but what every other finding rests on. */
    SAME_RUN("", "a seed is one run");

    private final String number;
    private final String inWords;

    Rule(String number, String inWords) {
        this.number = number;
        this.inWords = inWords;
    }

    /** Its number on the page of the guarantees; empty if it promises users nothing. */
    public String number() {
        return number;
    }

    @Override
    public String toString() {
        return number.isEmpty() ? inWords : number + " " + inWords;
    }
}
