package dev.holdfast.testkit.sim;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.ResourceName;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Spreads the faults of a plan over the chaos phase. */
final class Fate {

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
    private final Dice dice;

    Fate(Run run, Dice dice) {
        this.run = run;
        this.plan = run.plan;
        this.dice = dice;
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
        if (run.server.partitions() > 1 && dice.chance(0.6)) {
            failParts();
        }
        times(plan.expiresActively ? 20 : 0, () -> run.server.expire(anyLink()));
    }

    /** Some parts of the store fail, also where nothing else does: the others must not notice. */
    private void failParts() {
        for (int i = 0; i + 1 < run.server.partitions(); i++) {
            int part = dice.below(run.server.partitions());
            run.weather.makeFrail(part);
            times((int) dice.between(1, 3), () -> failPart(part));
        }
    }

    private void failPart(int part) {
        boolean isDown = dice.chance(0.5);
        long duration = dice.heavyTail(10 * MILLI, 3 * plan.ttl);
        run.say("part " + part + (isDown ? " goes down" : " stands still") + " for " + duration / MILLI + " ms");
        run.weather.fail(part, isDown, duration);
        run.clients().stream().map(Client::link).filter(Objects::nonNull).forEach(link -> {
            if (isDown) {
                link.breakPart(part);
            }
        });
        run.reached.hit(Reach.PART_FAILED);
    }

    private void times(int count, Runnable event) {
        for (int i = 0; i < count; i++) {
            run.world.after(dice.between(0, dice.chance(0.5) ? plan.busy() : plan.chaos), () -> {
                if (!run.isDraining()) {
                    event.run();
                }
            });
        }
    }

    private void withOne(Consumer<Client> event) {
        List<Client> live = run.clients().stream().filter(Client::isOpen).toList();
        if (!live.isEmpty()) {
            event.accept(dice.oneOf(live));
        }
    }

    private void partition(Client client) {
        SimLink link = client.link();
        int way = dice.below(3);
        long duration = dice.heavyTail(10 * MILLI, 2 * plan.ttl);
        if (link != null) {
            run.say("the network cuts " + client.name()
                    + (way == 0 ? " off" : way == 1 ? " off one way" : " off the other way") + " for "
                    + duration / MILLI + " ms");
            run.weather.cut(link, way != 2, way != 1, duration);
        }
    }

    private void stop(Client client, SimProcess.Stop how) {
        stop(client, how, dice.heavyTail(MILLI, 5 * plan.ttl / 2));
    }

    private void stop(Client client, SimProcess.Stop how, long duration) {
        SimProcess process = client.process();
        // Clients take smaller steps of the wall clock for noise, so a shorter freeze is a matter of the margin. A step
        // back that no look at the clock came after would hide the freeze: nothing in the machine could tell.
        boolean wouldBeHidden = how == SimProcess.Stop.FROZEN && run.world.now() - process.setBackAt() < plan.ttl / 4;
        if (process.isRunning() && !wouldBeHidden) {
            process.stop(how);
            long shortest = how == SimProcess.Stop.FROZEN ? Math.max(plan.ttl / 25, 50 * MILLI) : MILLI;
            run.world.after(Math.max(shortest, duration), process::resume);
        }
    }

    /** Stops a process just after it has sent a command: when it goes on, the answer has been waiting for long. */
    private void ambush(Client client) {
        Class<? extends Command> kind = dice.oneOf(AMBUSHED);
        SimProcess.Stop how = dice.chance(0.6) ? SimProcess.Stop.PAUSED : dice.oneOf(List.of(SimProcess.Stop.values()));
        // Most of all so long that a lease ends by the clock of its holder, and not yet by that of the store.
        long duration = dice.chance(0.6) ? dice.between(plan.ttl / 2, plan.ttl) : dice.heavyTail(MILLI, 2 * plan.ttl);
        client.ambush(kind, () -> {
            if (!run.isDraining()) {
                stop(client, how, duration);
            }
        });
    }

    private void stepWall(Client client) {
        if (!client.process().isRunning()) {
            return;
        }
        long size = dice.heavyTail(50 * MILLI, 3_600_000 * MILLI);
        long step = dice.chance(0.7) ? size : -size;
        run.say("the wall clock of " + client.name() + " steps by " + step / MILLI + " ms");
        client.process().stepWall(step);
    }

    private void kill(Client client) {
        client.process().kill();
        run.noteDeath(client);
        if (dice.chance(0.6)) {
            run.world.after(dice.heavyTail(MILLI, plan.ttl), run::addClient);
        }
    }

    private void close(Client client) {
        if (client.process().isRunning()) {
            client.close(
                    dice.chance(0.7)
                            ? () -> run.world.after(dice.heavyTail(MILLI, plan.ttl), run::addClient)
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
        // The shorter it is, the less the clock helps the tokens: half of those that matter are as short as can be.
        boolean isShort = losesData && dice.chance(0.5);
        run.world.after(isShort ? least : dice.heavyTail(least, 3 * plan.ttl / 2), () -> {
            if (losesData) {
                run.server.loseEverything();
            }
            run.server.comeUp();
        });
    }

    private void stepStore() {
        long size = dice.heavyTail(50 * MILLI, 3 * plan.ttl);
        run.server.stepClock(dice.chance(0.5) ? size : -size);
    }

    private void force() {
        String resource = dice.oneOf(plan.resources).name();
        @Nullable Holding holding = run.judge.anyInHand(resource);
        if (holding != null && run.server.isUp()) {
            run.server.apply(new Command.ForceRelease(new ResourceName(resource), holding.token), anyLink());
        }
    }

    private SimLink anyLink() {
        return run.operator();
    }
}
