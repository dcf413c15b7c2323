package dev.holdfast.testkit.sim;

import dev.holdfast.engine.deadlock.NameState;
import dev.holdfast.engine.deadlock.OwnWait;
import dev.holdfast.engine.deadlock.SearchedClient;
import dev.holdfast.engine.deadlock.WaitLine.Blocking;
import dev.holdfast.testkit.sim.WaitsStore.Claim;
import dev.holdfast.testkit.sim.WaitsThread.Hold;
import dev.holdfast.testkit.sim.WaitsThread.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** What one pass of a {@link WaitsClient} reads. */
final class WaitsPass implements SearchedClient {
    private static final long MILLI = 1_000_000;

    private final WaitsClient client;
    private final WaitsRun run;
    private final List<Wait> passed;
    private final List<Searched> waits = new ArrayList<>();

    WaitsPass(WaitsClient client, List<Wait> passed) {
        this.client = client;
        this.run = client.run;
        this.passed = passed;
        passed.forEach(wait -> waits.add(new Searched(wait, WaitsRun.nameOf(wait.name), wait.isReader)));
    }

    @Override
    public List<Searched> waits() {
        return waits;
    }

    @Override
    public CompletableFuture<List<PolledHold>> poll() {
        List<Claim> all = new ArrayList<>();
        passed.forEach(wait -> wait.thread.holds.forEach(hold -> all.add(hold.claim)));
        return client.ask(() -> run.store.awaited(all)).thenApply(atStore -> {
            List<PolledHold> polled = new ArrayList<>();
            for (Wait wait : passed) {
                for (Hold hold : wait.thread.holds) {
                    boolean isAwaitedHere = client.head(hold.claim.name) != null;
                    polled.add(new PolledHold(wait, isAwaitedHere, atStore.contains(hold.claim), hold.claim.isShared));
                }
            }
            return polled;
        });
    }

    @Override
    public CompletableFuture<Optional<NameState>> inspect(String name) {
        int number = WaitsRun.numberOf(name);
        return client.ask(() -> Optional.of(run.store.inspect(number, client)))
                .exceptionally(failure -> Optional.empty());
    }

    @Override
    public List<TableEntry> tables() {
        List<TableEntry> entries = new ArrayList<>();
        for (Wait wait : passed) {
            List<OwnWait.Hold> holds = wait.isOver() ? List.of() : holdsOf(wait);
            if (!holds.isEmpty()) {
                Reader reader = wait.isReader ? client.reader(wait) : null;
                entries.add(new TableEntry(own(wait, holds), client.head(wait.name) == wait, reader));
            }
        }
        return entries;
    }

    private OwnWait own(Wait wait, List<OwnWait.Hold> holds) {
        return new OwnWait(
                wait,
                wait.thread,
                wait.thread.name,
                WaitsRun.nameOf(wait.name),
                Blocking.ALL,
                "",
                (run.world.now() - wait.from) / MILLI,
                client.mayFail,
                holds);
    }

    private List<OwnWait.Hold> holdsOf(Wait wait) {
        List<OwnWait.Hold> holds = new ArrayList<>();
        boolean isOfProcess = run.flaw == WaitsRun.Flaw.HOLDS_BELONG_TO_PROCESSES;
        for (WaitsThread thread : isOfProcess ? client.threads : List.of(wait.thread)) {
            for (Hold hold : thread.holds) {
                boolean isLive = client.isLive() && hold.to == WaitsThread.OPEN;
                if (run.rules.isStated(hold.isOwned, hold.isLeased, isLive)) {
                    OwnWait.Owner owner = new OwnWait.Owner(client.name(), "", "");
                    holds.add(new OwnWait.Hold(
                            hold.claim, WaitsRun.nameOf(hold.claim.name), hold.isWrite, hold.token, owner));
                }
            }
        }
        return holds;
    }

    @Override
    public long youngestNanos() {
        return passed.stream()
                .mapToLong(wait -> run.world.now() - wait.from)
                .min()
                .orElse(0);
    }
}
