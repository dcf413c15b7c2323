package dev.holdfast.testkit.sim;

import dev.holdfast.election.Leadership;
import java.util.ArrayList;
import java.util.List;

/** All candidates of the election of a run. Checks that terms increase, and that at most one candidate leads. */
final class Electorate {

    private final Run run;
    private final String name;
    private final List<Contender> all = new ArrayList<>();
    private long newest;

    Electorate(Run run, String name) {
        this.run = run;
        this.name = name;
    }

    void add(Contender contender) {
        all.add(contender);
    }

    /** Called when the store has elected a candidate, at that instant. */
    void storeElects(String resource, ClaimRecord grant) {
        if (resource.equals(name) && run.plan.isStoreSound()) {
            all.forEach(each -> checkLeadsNoMore(each, "the store has elected " + grant));
        }
    }

    /** Called when a candidate learns that it leads. */
    void begins(Contender who, Leadership leadership) {
        ClaimRecord grant = run.storeOracle.grantOf(name, leadership.term());
        if (grant == null || grant.session.owner.process() != who.client().process()) {
            run.world.fail(Rule.ONE_LEADER, who + " leads in a term that it was never given: " + leadership.term());
            return;
        }
        if (leadership.isLeader() && leadership.term() <= newest && run.plan.isStoreSound()) {
            run.world.fail(
                    Rule.ONE_LEADER, who + " leads in term " + leadership.term() + " after somebody led in " + newest);
        }
        newest = Math.max(newest, leadership.term());
        grant.wasServed = true;
    }

    /** Called when a candidate claims to lead. */
    void checkLeads(Contender who, Leadership leadership) {
        if (!run.plan.isStoreSound()) {
            return;
        }
        if (!isInForce(leadership)) {
            run.world.fail(
                    Rule.LEADS_NO_MORE,
                    who + " says that it leads in term " + leadership.term() + ", which is over at the store");
        }
        all.stream()
                .filter(other -> other != who)
                .forEach(other -> checkLeadsNoMore(other, who + " leads in term " + leadership.term()));
    }

    /** Called when a candidate learns the end of a term that it resigned: until then no other may have been elected. */
    void checkKept(Contender who, Leadership leadership) {
        ClaimRecord grant = run.storeOracle.grantOf(name, leadership.term());
        if (grant != null && grant.end == ClaimRecord.End.RELEASE) {
            run.world.fail(
                    Rule.KEPT_TO_THE_END,
                    who + " is told the end of term " + leadership.term() + " after it was given back: " + grant);
        }
    }

    private void checkLeadsNoMore(Contender who, String why) {
        Leadership other = who.term();
        SimProcess process = who.client().process();
        if (other != null && !process.isDead() && !process.isAsleep() && other.isLeader()) {
            run.world.fail(Rule.LEADS_NO_MORE, why + " while " + who + " says that it leads in term " + other.term());
        }
    }

    private boolean isInForce(Leadership leadership) {
        return run.storeOracle.isInForce(name, leadership.term(), run.server.micros());
    }
}
