package dev.holdfast.testkit.sim;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.support.Listeners;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What one client has of the store: a driver with a few connections, and the network between. Commands of one resource
 * share a connection and keep their order, until it breaks: then each of those under way is lost, carried out now, or
 * carried out much later, and its sender never learns which.
 *
 * <p>A command whose sender knows the outcome is delivered once, for drivers don't retry; one whose outcome is unknown
 * may be delivered again at any time.
 */
final class SimLink implements LockStore {

    private static final int LANES = 3;
    private static final int CONTROL_LANE = 0;
    private static final long STUCK = 50_000_000;

    /** One command under way. */
    private static final class Call {
        final Command command;
        final long sentAt;
        final CompletableFuture<Reply> future;
        boolean hasArrived;
        boolean isAnswered;

        Call(Command command, long sentAt, World world) {
            this.command = command;
            this.sentAt = sentAt;
            this.future = new Heard<>(world);
        }
    }

    /** One connection after the other, of which each keeps the order. */
    private static final class Lane {
        final int partition;
        final Deque<Call> underWay = new ArrayDeque<>();
        long newestArrival;
        long newestReply;
        long connection;
        long downUntil;

        Lane(int partition) {
            this.partition = partition;
        }
    }

    private final World world;
    private final SimProcess process;
    private final SimServer server;
    private final Weather weather;
    private final Dice dice;
    private final LinkWatch watch;
    private final Lane[] lanes;
    private final Listeners listeners = new Listeners();
    private boolean isClosed;

    SimLink(World world, SimProcess process, SimServer server, Weather weather, Dice dice, LinkWatch watch) {
        this.world = world;
        this.process = process;
        this.server = server;
        this.weather = weather;
        this.dice = dice;
        this.watch = watch;
        // Where the store has partitions each is a server of its own, with one connection to it.
        this.lanes = new Lane[server.partitions() > 1 ? server.partitions() : LANES];
        for (int i = 0; i < lanes.length; i++) {
            lanes[i] = new Lane(server.partitions() > 1 ? i : CONTROL_LANE);
        }
    }

    SimProcess process() {
        return process;
    }

    @Override
    public StoreTraits traits() {
        return server.traits();
    }

    @Override
    public int partitions() {
        return server.partitions();
    }

    @Override
    public int partitionOf(ResourceName name) {
        return server.partitionOf(name);
    }

    @Override
    public Subscription subscribe(Consumer<Signal> consumer) {
        return listeners.add(consumer);
    }

    @Override
    public void close() {
        isClosed = true;
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        Call call = new Call(command, world.now(), world);
        if (process.isDead()) {
            return call.future;
        }
        note("sends", command);
        watch.sent(command);
        if (isClosed) {
            return CompletableFuture.failedFuture(
                    failure(StoreException.Reason.CLOSED, StoreException.Effect.NONE, "the link was closed"));
        }
        Lane lane = laneOf(command);
        if (!server.isUp() || world.now() < lane.downUntil || weather.isDown(lane.partition)) {
            process.after(weather.delay(dice), () -> fail(call, StoreException.Effect.NONE, "no connection"));
        } else if (dice.chance(weather.breaking())) {
            lane.underWay.add(call);
            breakUp(lane);
        } else if (dice.chance(weather.inline()) && lane.underWay.isEmpty()) {
            answer(call, carryOut(call));
        } else {
            lane.underWay.add(call);
            send(call, lane);
        }
        return call.future;
    }

    /** The store has something to tell, without promise. */
    void pushed(Signal signal) {
        Lane lane = controlLane(SimServer.sessionOf(signal));
        boolean isLost = dice.chance(weather.signalLoss())
                || world.now() < lane.downUntil
                || weather.isCut(this, Weather.Way.BACK)
                || weather.isOut(lane.partition);
        if (isLost) {
            watch.signalLost(signal);
            return;
        }
        long connection = lane.connection;
        world.after(weather.delay(dice), process, () -> {
            if (lane.connection == connection) {
                tell(signal);
            }
        });
        if (dice.chance(weather.signalCopy())) {
            world.after(weather.longDelay(dice), process, () -> tell(signal));
        }
    }

    /** All connections break, as when the store goes down. */
    void breakAll() {
        for (Lane lane : lanes) {
            breakUp(lane);
        }
    }

    /** The storm is over: connections that are stuck are made anew. */
    void heal() {
        for (Lane lane : lanes) {
            if (Math.max(lane.newestArrival, lane.newestReply) > world.now() + STUCK) {
                breakUp(lane);
            }
        }
    }

    private void tell(Signal signal) {
        if (!listeners.isEmpty() && !isClosed) {
            if (world.trace().isInWords()) {
                world.say(process + " is told " + Words.of(signal));
            }
            watch.told(signal);
            listeners.accept(signal);
        }
    }

    private void send(Call call, Lane lane) {
        long connection = lane.connection;
        boolean isCut = weather.isCut(this, Weather.Way.OUT);
        if (dice.chance(weather.requestLoss()) || (isCut && dice.chance(0.5))) {
            // Nobody notices: the sender's own time-out ends it.
            return;
        }
        // A server that stands still takes what has come when it goes on.
        long travel = weather.delay(dice) + (isCut ? weather.cutLeft() : 0) + weather.outLeft(lane.partition);
        lane.newestArrival = Math.max(lane.newestArrival + 1, world.now() + travel);
        world.after(lane.newestArrival - world.now(), () -> arrive(call, lane, connection));
        if (dice.chance(weather.harmlessCopy(call.command))) {
            world.after(weather.longDelay(dice), () -> deliverLate(call));
        }
    }

    private void arrive(Call call, Lane lane, long connection) {
        if (lane.connection != connection) {
            return;
        }
        if (!server.isUp() || weather.isDown(lane.partition)) {
            breakUp(lane);
            return;
        }
        if (dice.chance(weather.refusal())) {
            call.hasArrived = true;
            back(call, lane, connection, null);
            return;
        }
        Reply reply = carryOut(call);
        boolean isCut = weather.isCut(this, Weather.Way.BACK);
        if (!dice.chance(weather.replyLoss()) && !isCut) {
            back(call, lane, connection, reply);
        }
    }

    private void back(Call call, Lane lane, long connection, @Nullable Reply reply) {
        lane.newestReply = Math.max(lane.newestReply + 1, world.now() + weather.replyDelay(dice));
        world.after(lane.newestReply - world.now(), process, () -> {
            if (lane.connection != connection || call.isAnswered) {
                return;
            }
            lane.underWay.remove(call);
            if (reply == null) {
                fail(call, StoreException.Effect.NONE, "the store is overloaded");
            } else {
                answer(call, reply);
            }
        });
    }

    private void answer(Call call, Reply reply) {
        call.isAnswered = true;
        world.trace().mix(Words.number(reply));
        if (world.trace().isInWords()) {
            world.say(process + " has the answer to " + Words.of(call.command) + ": " + Words.of(reply));
        }
        watch.answered(call.command, reply, call.sentAt);
        call.future.complete(reply);
    }

    private Reply carryOut(Call call) {
        call.hasArrived = true;
        world.trace().mix(Words.number(call.command));
        return server.apply(call.command, this);
    }

    private void breakUp(Lane lane) {
        lane.connection++;
        lane.newestArrival = 0;
        lane.newestReply = 0;
        lane.downUntil = world.now() + weather.reconnect(dice);
        if (world.trace().isInWords()) {
            world.say(process + " loses connection with " + lane.underWay.size() + " commands under way");
        }
        List<Call> caught = new ArrayList<>(lane.underWay);
        lane.underWay.clear();
        for (Call call : caught) {
            if ((!call.hasArrived && dice.chance(0.5)) || dice.chance(weather.lateCopy())) {
                world.after(weather.longDelay(dice), () -> deliverLate(call));
            }
            process.after(weather.delay(dice), () -> fail(call, StoreException.Effect.UNKNOWN, "the connection broke"));
        }
        if (lanes.length == server.partitions() || lane == lanes[CONTROL_LANE]) {
            OptionalInt partition = server.partitions() > 1 ? OptionalInt.of(lane.partition) : OptionalInt.empty();
            long connection = lane.connection;
            process.after(lane.downUntil - world.now() + weather.delay(dice), () -> {
                if (lane.connection == connection) {
                    tell(new Signal.Resubscribed(partition));
                }
            });
        }
    }

    private void deliverLate(Call call) {
        if (server.isUp()) {
            if (world.trace().isInWords()) {
                world.say("late from " + process + ": " + Words.of(call.command));
            }
            carryOut(call);
        }
    }

    private void fail(Call call, StoreException.Effect effect, String why) {
        if (call.isAnswered) {
            return;
        }
        call.isAnswered = true;
        if (world.trace().isInWords()) {
            world.say(process + " learns that " + Words.of(call.command) + " failed (" + effect + "): " + why);
        }
        watch.failed(call.command, effect);
        call.future.completeExceptionally(failure(StoreException.Reason.UNAVAILABLE, effect, why));
    }

    private void note(String what, Command command) {
        world.trace().mix(Words.number(command));
        if (world.trace().isInWords()) {
            world.say(process + " " + what + " " + Words.of(command));
        }
    }

    /** A partition has failed: connections to it break. */
    void breakPart(int partition) {
        breakUp(lanes[partition]);
    }

    private Lane controlLane(@Nullable SessionId session) {
        return server.partitions() > 1 && session != null ? lanes[server.partitionOf(session)] : lanes[CONTROL_LANE];
    }

    private Lane laneOf(Command command) {
        if (server.partitions() > 1) {
            return lanes[server.partitionOf(command)];
        }
        return command instanceof Command.OnResource on
                ? lanes[1 + Math.floorMod(on.resource().value().hashCode(), LANES - 1)]
                : lanes[CONTROL_LANE];
    }

    private static StoreException failure(StoreException.Reason reason, StoreException.Effect effect, String why) {
        return new StoreException(reason, effect, why, null);
    }
}
