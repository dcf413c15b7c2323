package dev.holdfast.testkit.sim;

/** The rules that the oracles of the simulation check; the numbers are those of the page of the guarantees. */
public enum Rule {
    /** The store grants no mutex twice. */
    ONE_HOLDER("A1", "one holder at the store"),
    /** The store grants no write lock while others hold the lock. */
    READERS_OR_WRITER("A2", "readers share, a writer is alone"),
    /** The store grants no more permits than there are; those granted before a resize stay. */
    PERMITS("A3", "no more permits than there are"),
    /** A fair resource serves its waiters in the order of their arrival. */
    IN_ORDER("A4", "first come, first served"),
    /** A claim that exceeds the new capacity stops waiting. */
    RESIZED("A11", "nobody waits for what can never be"),
    /** A late duplicate has no effect. */
    NOTHING_OLD("I2", "nothing old takes effect"),
    /** A claim ends by expiry, by its client or by force, and by nothing else. */
    NOT_ANOTHERS("R1", "nobody ends another's claim"),
    /** A grant keeps its weight until part of it is released, and then has the requested weight. */
    SHRUNK("R4", "what is given back is given back once"),
    /** An attempt to set a count that is already set returns that count. */
    SET_ONCE("K1", "a count is set once"),
    /** A latch has the rest of its count, and never less than zero. */
    COUNTED_TO_ZERO("K2", "a latch counts to zero"),
    /** One id counts down once. */
    COUNTED_ONCE("K3", "an id counts once"),
    /** A count-down of another generation has no effect. */
    COUNTS_ITS_GENERATION("K4", "a count-down is for one generation"),
    /** Waiters pass in the step in which the latch opens, and not before. */
    PASSED_TOGETHER("K5", "all pass when a latch opens"),
    /** When all clients are closed, the store has nothing of them. */
    NOTHING_LEFT("R5", "nothing is left behind"),
    /** Expired claims exclude no others. */
    DEAD_GIVE_WAY("S2", "the dead give way"),
    /** No session, and no claim that ended with one, comes back. */
    NO_REVIVAL("S4", "no revival"),
    /** The token of every grant and hand-over is higher than all before it. */
    TOKENS_RISE("T1", "tokens rise"),
    /** A free resource with waiters is granted within a third of a ttl and a command. */
    NOBODY_WAITS_FOR_EVER("W3", "nobody waits for ever"),
    /** No client relies on a hold that the store has ended or granted to another. */
    EXCLUSION("C1", "exclusion in true time"),
    /** A loss is reported once, as soon as the hold has ended. */
    LOSS_IS_TOLD("C2", "loss is told once, in time"),
    /** A hold that has expired or was lost is never seen held again. */
    LOST_STAYS_LOST("C3", "what is lost stays lost"),
    /** A hold shows the token of its grant, and none after its end. */
    OWN_TOKEN("C4", "a token of one's own"),
    /** A rejected or cancelled request never holds, and leaves no claim at the store. */
    GIVEN_UP("C5", "what was given up never holds"),
    /** A second release has no effect, and reports that. */
    ONLY_THE_OWNER("C6", "only the owner releases"),
    /** A request ends once, for a valid reason. */
    THREE_OUTCOMES("C7", "granted, refused or unknown"),
    /** An expired hold is not handed over. */
    NO_LATE_HAND_OFF("C8", "no hand-off past the deadline"),
    /** With strict order, holds of one process don't pass a claim of another for longer than the window lasts. */
    PASSED_OVER("C22", "nobody is passed over"),
    /** A closed client grants nothing, has no waiters and sends nothing. */
    CLOSED("C9", "closed is closed"),
    /** No write of an earlier grant follows one of a later grant. */
    GUARDED("C11", "stale writes are refused"),
    /** A hold released in time was valid to the end, and is gone at the store. */
    RELEASED_IS_GONE("C13", "released is gone"),
    /** Without faults nothing is lost. */
    HEALTHY_KEEPS("C14", "a healthy holder keeps its lock"),
    /** Requests, releases and doubts end in time, and in the end every request is served. */
    EVERYTHING_ENDS("C15", "everything ends"),
    /** The first release of two acquisitions by one owner does not end the hold. */
    ONLY_THE_LAST_RELEASE("C16", "only the last release ends a hold"),
    /** A waiter is overtaken a bounded number of times only. */
    NOBODY_STARVES("C17", "nobody starves"),
    /** Processes that request a lock without a break have equal parts of it. */
    SHARES("C23", "equal shares"),
    /** A process waits for the turns of those before it, which are bounded. */
    WAIT_OF_PROCESS("C24", "no process waits for long"),
    /** A detached hold is lost when its lease has expired, and not earlier through its client. */
    DETACHED_LASTS("P5", "a detached hold needs no session"),
    /** A caller learns that it set a count if and only if it did. */
    ONE_SETTER("N1", "one is told that it has set the count"),
    /** A caller that passes a latch, or finds it open, was waiting when it was open. */
    PASSED("N2", "nobody passes before zero"),
    /** A count-down that succeeded has counted. */
    COUNTED("N3", "who counted down has counted"),
    /** A count-down has no effect on a later generation. */
    COUNTS_ITS_OWN("N4", "no count-down for a later generation"),
    /** Terms are those that the store granted, and increase. */
    ONE_LEADER("E1", "one leader at a time, in rising terms"),
    /** The beginning and the end of a term are reported once each, in turn. */
    TERMS_ARE_TOLD("E2", "terms are told in order"),
    /** No candidate leads in a term that has ended at the store, and its end is reported. */
    LEADS_NO_MORE("E3", "who is not the leader leads no more"),
    /** A resigned term stays at the store until its candidate has been notified. */
    KEPT_TO_THE_END("E4", "a term is kept until its candidate is done"),
    /** A candidate that has left is not elected. */
    WHO_LEFT_LEADS_NO_MORE("E6", "who left is not elected"),
    /** A closed client has no candidates. */
    CAMPAIGNS_END("E9", "closing ends campaigns"),
    /** What a majority of a quorum's members holds is kept, whichever of them fail and recover one after another. */
    OUTLIVES_MEMBERS("Q9", "a hold outlives its members, one after another"),
    /** No exception escapes. Not a promise to users. */
    NO_EXCEPTION("", "no exception escapes"),
    /** A seed is always the same run. Not a promise to users, but every other finding depends on it. */
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
