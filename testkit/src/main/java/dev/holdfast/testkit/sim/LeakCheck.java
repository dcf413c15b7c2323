package dev.holdfast.testkit.sim;

/** Checks that nothing is left at the store after the last release, first with open clients, then with closed ones. */
final class LeakCheck {

    private static final long MILLI = 1_000_000;

    private final Run run;

    LeakCheck(Run run) {
        this.run = run;
    }

    void run() {
        // Abandoned holds end with their leases, claims of dead clients with their sessions.
        Plan plan = run.plan;
        advance(plan.leaseMax + 2 * plan.ttl + plan.storeTimeout + 500 * MILLI);
        check(Rule.GIVEN_UP, "nobody holds or waits any more, but at the store there still is ");
        for (SimClient client : run.clients()) {
            client.close(() -> {});
        }
        advance(plan.storeTimeout + 2 * plan.ttl + 500 * MILLI);
        for (SimClient client : run.clients()) {
            if (client.isClosing() && !client.isClosed() && !client.process().isDead()) {
                run.world.fail(Rule.CLOSED, client.name() + " has not finished closing");
            }
        }
        check(Rule.NOTHING_LEFT, "all clients are closed, but at the store there still is ");
        run.world.step();
    }

    private void advance(long nanos) {
        boolean[] over = new boolean[1];
        run.world.after(nanos, () -> over[0] = true);
        while (!over[0]) {
            run.world.step();
        }
    }

    private void check(Rule rule, String what) {
        run.server.expire(run.operator());
        String left = run.storeOracle.leftovers(run.server.micros());
        if (!left.isEmpty()) {
            run.world.fail(rule, what + left);
        }
        run.world.after(0, () -> {});
        run.world.step();
    }
}
