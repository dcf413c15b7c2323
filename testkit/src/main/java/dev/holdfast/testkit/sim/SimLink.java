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
 * One client's link to the store: a driver with a few connections, and the network between. Commands on one resource
 * share a connection and keep their order until it breaks. Then each command under way is lost, executed now or
 * executed much later, and its sender does not learn which.
 *
 * <p>A command whose sender knows the outcome is delivered once, because drivers don't retry; one with an unknown
 * outcome may be delivered again at any time.
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
            this.future = new CheckedFuture<>(world);
        }
    }

    /** Successive connections, each of which keeps the order. */
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
    private final NetworkConditions network;
    private final SeededRandom random;
    private final LinkListener listener;
    private final Lane[] lanes;
    private final Listeners listeners = new Listeners();
    private boolean isClosed;

    SimLink(
            World world,
            SimProcess process,
            SimServer server,
            NetworkConditions network,
            SeededRandom random,
            LinkListener listener) {
        this.world = world;
        this.process = process;
        this.server = server;
        this.network = network;
        this.random = random;
        this.listener = listener;
        // Each partition of a store is a separate server, with one connection to it.
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
        listener.sent(command);
        if (isClosed) {
            return CompletableFuture.failedFuture(
                    failure(StoreException.Reason.CLOSED, StoreException.Effect.NONE, "the link was closed"));
        }
        Lane lane = laneOf(command);
        if (!server.isUp() || world.now() < lane.downUntil || network.isDown(lane.partition)) {
            process.after(network.delay(random), () -> fail(call, StoreException.Effect.NONE, "no connection"));
        } else if (random.chance(network.breaking())) {
            lane.underWay.add(call);
            breakUp(lane);
        } else if (random.chance(network.inline()) && lane.underWay.isEmpty()) {
            answer(call, carryOut(call));
        } else {
            lane.underWay.add(call);
            send(call, lane);
        }
        return call.future;
    }

    /** Delivers a signal of the store, which may get lost. */
    void pushed(Signal signal) {
        Lane lane = controlLane(SimServer.sessionOf(signal));
        boolean isLost = random.chance(network.signalLoss())
                || world.now() < lane.downUntil
                || network.isCut(this, NetworkConditions.Way.BACK)
                || network.isOut(lane.partition);
        if (isLost) {
            listener.signalLost(signal);
            return;
        }
        long connection = lane.connection;
        world.after(network.delay(random), process, () -> {
            if (lane.connection == connection) {
                deliver(signal);
            }
        });
        if (random.chance(network.signalCopy())) {
            world.after(network.longDelay(random), process, () -> deliver(signal));
        }
    }

    /** All connections break, as when the store goes down. */
    void breakAll() {
        for (Lane lane : lanes) {
            breakUp(lane);
        }
    }

    /** Ends the chaos: stuck connections are replaced. */
    void heal() {
        for (Lane lane : lanes) {
            if (Math.max(lane.newestArrival, lane.newestReply) > world.now() + STUCK) {
                breakUp(lane);
            }
        }
    }

    private void deliver(Signal signal) {
        if (!listeners.isEmpty() && !isClosed) {
            if (world.trace().isInWords()) {
                world.say(process + " is told " + TraceFormat.of(signal));
            }
            listener.signalled(signal);
            listeners.accept(signal);
        }
    }

    private void send(Call call, Lane lane) {
        long connection = lane.connection;
        boolean isCut = network.isCut(this, NetworkConditions.Way.OUT);
        if (random.chance(network.requestLoss()) || (isCut && random.chance(0.5))) {
            // The request is lost without notice; the sender's time-out ends it.
            return;
        }
        // A stopped server handles the request when it resumes.
        long travel = network.delay(random) + (isCut ? network.cutLeft() : 0) + network.outLeft(lane.partition);
        lane.newestArrival = Math.max(lane.newestArrival + 1, world.now() + travel);
        world.after(lane.newestArrival - world.now(), () -> arrive(call, lane, connection));
        if (random.chance(network.harmlessCopy(call.command))) {
            world.after(network.longDelay(random), () -> deliverLate(call));
        }
    }

    private void arrive(Call call, Lane lane, long connection) {
        if (lane.connection != connection) {
            return;
        }
        if (!server.isUp() || network.isDown(lane.partition)) {
            breakUp(lane);
            return;
        }
        if (random.chance(network.refusal())) {
            call.hasArrived = true;
            back(call, lane, connection, null);
            return;
        }
        Reply reply = carryOut(call);
        boolean isCut = network.isCut(this, NetworkConditions.Way.BACK);
        if (!random.chance(network.replyLoss()) && !isCut) {
            back(call, lane, connection, reply);
        }
    }

    private void back(Call call, Lane lane, long connection, @Nullable Reply reply) {
        lane.newestReply = Math.max(lane.newestReply + 1, world.now() + network.replyDelay(random));
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
        world.trace().mix(TraceFormat.number(reply));
        if (world.trace().isInWords()) {
            world.say(process + " has the answer to " + TraceFormat.of(call.command) + ": " + TraceFormat.of(reply));
        }
        listener.answered(call.command, reply, call.sentAt);
        call.future.complete(reply);
    }

    private Reply carryOut(Call call) {
        call.hasArrived = true;
        world.trace().mix(TraceFormat.number(call.command));
        return server.apply(call.command, this);
    }

    private void breakUp(Lane lane) {
        lane.connection++;
        lane.newestArrival = 0;
        lane.newestReply = 0;
        lane.downUntil = world.now() + network.reconnect(random);
        if (world.trace().isInWords()) {
            world.say(process + " loses connection with " + lane.underWay.size() + " commands under way");
        }
        List<Call> caught = new ArrayList<>(lane.underWay);
        lane.underWay.clear();
        for (Call call : caught) {
            if ((!call.hasArrived && random.chance(0.5)) || random.chance(network.lateCopy())) {
                world.after(network.longDelay(random), () -> deliverLate(call));
            }
            process.after(
                    network.delay(random), () -> fail(call, StoreException.Effect.UNKNOWN, "the connection broke"));
        }
        if (lanes.length == server.partitions() || lane == lanes[CONTROL_LANE]) {
            OptionalInt partition = server.partitions() > 1 ? OptionalInt.of(lane.partition) : OptionalInt.empty();
            long connection = lane.connection;
            process.after(lane.downUntil - world.now() + network.delay(random), () -> {
                if (lane.connection == connection) {
                    deliver(new Signal.Resubscribed(partition));
                }
            });
        }
    }

    private void deliverLate(Call call) {
        if (server.isUp()) {
            if (world.trace().isInWords()) {
                world.say("late from " + process + ": " + TraceFormat.of(call.command));
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
            world.say(process + " learns that " + TraceFormat.of(call.command) + " failed (" + effect + "): " + why);
        }
        listener.failed(call.command, effect);
        call.future.completeExceptionally(failure(StoreException.Reason.UNAVAILABLE, effect, why));
    }

    private void note(String what, Command command) {
        world.trace().mix(TraceFormat.number(command));
        if (world.trace().isInWords()) {
            world.say(process + " " + what + " " + TraceFormat.of(command));
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
