package dev.holdfast.testkit.sim;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.ResourceName;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Spreads the faults of a plan over the chaos phase. */
final class FaultSchedule {

    private static final long MILLI = 1_000_000;

    private static final List<Class<? extends Command>> AMBUSHED = List.of(
            Command.KeepAlive.class,
            Command.KeepAlive.class,
            Command.Acquire.class,
            Command.Yield.class,
            Command.Release.class,
            Command.Poll.class,
            Command.Extend.class);

    private static final long SHORTEST_OUTAGE_THAT_LOSES_DATA = 20 * MILLI;

    private final Run run;
    private final Plan plan;
    private final SeededRandom random;

    FaultSchedule(Run run, SeededRandom random) {
        this.run = run;
        this.plan = run.plan;
        this.random = random;
    }

    void spread() {
        times(plan.partitions, () -> withOne(this::partition));
        times(plan.pauses, () -> withOne(client -> stop(client, SimProcess.Stop.PAUSED)));
        times(plan.suspensions, () -> withOne(client -> stop(client, SimProcess.Stop.SUSPENDED)));
        times(plan.freezes, () -> withOne(client -> stop(client, SimProcess.Stop.FROZEN)));
        times(plan.wallSteps, () -> withOne(this::stepWall));
        times(plan.kills, () -> withOne(this::kill));
        times(plan.closes, () -> withOne(this::close));
        times(plan.outages, () -> outage(false));
        times(plan.isAmnesic ? 1 : 0, () -> outage(true));
        times(plan.storeSteps, this::stepStore);
        times(plan.forced, this::force);
        times(plan.ambushes, () -> withOne(this::ambush));
        if (run.server.partitions() > 1 && random.chance(0.6)) {
            failParts();
        }
        times(plan.expiresActively ? 20 : 0, () -> run.server.expire(anyLink()));
    }

    /** Some parts of the store fail, also where nothing else does: the others must not notice. */
    private void failParts() {
        for (int i = 0; i + 1 < run.server.partitions(); i++) {
            int part = random.below(run.server.partitions());
            run.network.makeFrail(part);
            times((int) random.between(1, 3), () -> failPart(part));
        }
    }

    private void failPart(int part) {
        boolean isDown = random.chance(0.5);
        long duration = random.heavyTail(10 * MILLI, 3 * plan.ttl);
        run.say("part " + part + (isDown ? " goes down" : " stands still") + " for " + duration / MILLI + " ms");
        run.network.fail(part, isDown, duration);
        run.clients().stream().map(SimClient::link).filter(Objects::nonNull).forEach(link -> {
            if (isDown) {
                link.breakPart(part);
            }
        });
        run.coverage.hit(CoveragePoint.PART_FAILED);
    }

    private void times(int count, Runnable event) {
        for (int i = 0; i < count; i++) {
            run.world.after(random.between(0, random.chance(0.5) ? plan.busy() : plan.chaos), () -> {
                if (!run.isDraining()) {
                    event.run();
                }
            });
        }
    }

    private void withOne(Consumer<SimClient> event) {
        List<SimClient> live = run.clients().stream().filter(SimClient::isOpen).toList();
        if (!live.isEmpty()) {
            event.accept(random.oneOf(live));
        }
    }

    private void partition(SimClient client) {
        SimLink link = client.link();
        int way = random.below(3);
        long duration = random.heavyTail(10 * MILLI, 2 * plan.ttl);
        if (link != null) {
            run.say("the network cuts " + client.name()
                    + (way == 0 ? " off" : way == 1 ? " off one way" : " off the other way") + " for "
                    + duration / MILLI + " ms");
            run.network.cut(link, way != 2, way != 1, duration);
        }
    }

    private void stop(SimClient client, SimProcess.Stop how) {
        stop(client, how, random.heavyTail(MILLI, 5 * plan.ttl / 2));
    }

    private void stop(SimClient client, SimProcess.Stop how, long duration) {
        SimProcess process = client.process();
        // Clients ignore smaller steps of the wall clock as noise, so a shorter freeze is covered by the margin. A
        // backward step before the next reading of the clock would hide the freeze, and nothing in the machine could
        // detect it.
        boolean wouldBeHidden = how == SimProcess.Stop.FROZEN && run.world.now() - process.setBackAt() < plan.ttl / 4;
        if (process.isRunning() && !wouldBeHidden) {
            process.stop(how);
            long shortest = how == SimProcess.Stop.FROZEN ? Math.max(plan.ttl / 25, 50 * MILLI) : MILLI;
            run.world.after(Math.max(shortest, duration), process::resume);
        }
    }

    /** Stops a process just after it has sent a command, so that the reply waits for it. */
    private void ambush(SimClient client) {
        Class<? extends Command> kind = random.oneOf(AMBUSHED);
        SimProcess.Stop how =
                random.chance(0.6) ? SimProcess.Stop.PAUSED : random.oneOf(List.of(SimProcess.Stop.values()));
        // Mostly long enough that a lease ends by the clock of its holder, and not yet by that of the store.
        long duration =
                random.chance(0.6) ? random.between(plan.ttl / 2, plan.ttl) : random.heavyTail(MILLI, 2 * plan.ttl);
        client.ambush(kind, () -> {
            if (!run.isDraining()) {
                stop(client, how, duration);
            }
        });
    }

    private void stepWall(SimClient client) {
        if (!client.process().isRunning()) {
            return;
        }
        long size = random.heavyTail(50 * MILLI, 3_600_000 * MILLI);
        long step = random.chance(0.7) ? size : -size;
        run.say("the wall clock of " + client.name() + " steps by " + step / MILLI + " ms");
        client.process().stepWall(step);
    }

    private void kill(SimClient client) {
        client.process().kill();
        run.noteDeath(client);
        if (random.chance(0.6)) {
            run.world.after(random.heavyTail(MILLI, plan.ttl), run::addClient);
        }
    }

    private void close(SimClient client) {
        if (client.process().isRunning()) {
            client.close(
                    random.chance(0.7)
                            ? () -> run.world.after(random.heavyTail(MILLI, plan.ttl), run::addClient)
                            : () -> {});
        }
    }

    private void outage(boolean losesData) {
        if (!run.server.isUp()) {
            return;
        }
        run.server.goDown();
        run.clients().forEach(client -> {
            SimLink link = client.link();
            if (link != null) {
                link.breakAll();
            }
        });
        long least = losesData ? SHORTEST_OUTAGE_THAT_LOSES_DATA : MILLI;
        // The shorter the outage, the less the clock helps the tokens: half of them are as short as possible.
        boolean isShort = losesData && random.chance(0.5);
        run.world.after(isShort ? least : random.heavyTail(least, 3 * plan.ttl / 2), () -> {
            if (losesData) {
                run.server.loseEverything();
            }
            run.server.comeUp();
        });
    }

    private void stepStore() {
        long size = random.heavyTail(50 * MILLI, 3 * plan.ttl);
        run.server.stepClock(random.chance(0.5) ? size : -size);
    }

    private void force() {
        String resource = random.oneOf(plan.resources).name();
        @Nullable Holding holding = run.holdOracle.anyInHand(resource);
        if (holding != null && run.server.isUp()) {
            run.server.apply(new Command.ForceRelease(new ResourceName(resource), holding.token), anyLink());
        }
    }

    private SimLink anyLink() {
        return run.operator();
    }
}
