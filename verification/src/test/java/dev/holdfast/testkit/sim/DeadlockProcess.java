package dev.holdfast.testkit.sim;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.Deadlock;
import dev.holdfast.HoldfastListener;
import dev.holdfast.OnDeadlock;
import dev.holdfast.engine.SimulatedClient;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.engine.local.SimulatedThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A process of a {@link DeadlockRun}. */
final class DeadlockProcess implements HoldfastListener {

    final DeadlockRun run;
    final SimProcess process;
    final DeadlockLink link;
    final List<DeadlockThread> threads = new ArrayList<>();
    private final SeededRandom random;

    DeadlockProcess(DeadlockRun run, SimProcess process, SeededRandom random) {
        this.run = run;
        this.process = process;
        this.random = random;
        this.link = new DeadlockLink(run, process, random.fork());
    }

    void open(OnDeadlock onDeadlock, SafetyRules rules, List<Thread> identities) {
        SimEnvironment environment = new SimEnvironment(run.world, process, process.clock(), random.fork(), 200_000);
        SimulatedClient.start(
                        link,
                        environment,
                        Duration.ofNanos(run.ttl),
                        Duration.ofNanos(run.budget),
                        process.name(),
                        onDeadlock,
                        this,
                        rules)
                .thenAccept(client -> identities.forEach(identity -> {
                    DeadlockThread thread =
                            new DeadlockThread(this, new SimulatedThread(client.resources(), identity), random.fork());
                    threads.add(thread);
                    thread.think();
                }));
    }

    void after(long delay, Runnable what) {
        process.after(delay, what);
    }

    void kill() {
        process.kill();
        threads.forEach(DeadlockThread::die);
        run.changed = true;
    }

    @Override
    public @Nullable AcquisitionListener onRequested(AcquireRequest request) {
        return null;
    }

    @Override
    public void onDeadlock(Deadlock deadlock) {
        run.reported(this, deadlock);
    }
}
