package dev.holdfast.testkit.sim;

/**
 * After the last release: nothing may be left at the store, first with the clients open, then with all of them closed.
 */
final class Epilogue {

    private static final long MILLI = 1_000_000;

    private final Run run;

    Epilogue(Run run) {
        this.run = run;
    }

    void play() {
        // Holds that were forgotten end with their leases, claims of the dead with their sessions.
        Plan plan = run.plan;
        go(plan.leaseMax + 2 * plan.ttl + plan.storeTimeout + 500 * MILLI);
        look(Rule.GIVEN_UP, "nobody holds or waits any more, but at the store there still is ");
        for (Client client : run.clients()) {
            client.close(() -> {});
        }
        go(plan.storeTimeout + 2 * plan.ttl + 500 * MILLI);
        for (Client client : run.clients()) {
            if (client.isClosing() && !client.isClosed() && !client.process().isDead()) {
                run.world.fail(Rule.CLOSED, client.name() + " has not finished closing");
            }
        }
        look(Rule.NOTHING_LEFT, "all clients are closed, but at the store there still is ");
        run.world.step();
    }

    private void go(long nanos) {
        boolean[] over = new boolean[1];
        run.world.after(nanos, () -> over[0] = true);
        while (!over[0]) {
            run.world.step();
        }
    }

    private void look(Rule rule, String what) {
        run.server.expire(run.operator());
        String left = run.ledger.leftovers(run.server.micros());
        if (!left.isEmpty()) {
            run.world.fail(rule, what + left);
        }
        run.world.after(0, () -> {});
        run.world.step();
    }
}
