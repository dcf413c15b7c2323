package dev.holdfast.store.redis.connection;

import dev.holdfast.spi.support.AdaptiveSpin;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.Transports;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SelectStrategy;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.IntSupplier;
import io.netty.util.concurrent.EventExecutorGroup;
import java.nio.channels.spi.SelectorProvider;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The threads of connections. Where the answers of the server, and the commands that follow them, come at once, such a
 * thread looks out for them for a moment before it sleeps: with a server near by most of the time of a round trip is
 * spent on waking threads. The native transports, which a program may have brought along, sleep as they do.
 */
final class SpinningEventLoops extends DefaultEventLoopGroupProvider {

    /** What a round trip to a server near by takes. */
    static final long MOST_NANOS_FOR_ANSWERS = 200_000;

    /** What a program that does nothing else takes from an answer to its next command. */
    static final long MOST_NANOS_FOR_COMMANDS = 50_000;

    private static final boolean IS_ALONE = Runtime.getRuntime().availableProcessors() == 1;

    private final InFlight inFlight;

    SpinningEventLoops(int threads, InFlight inFlight) {
        super(threads);
        this.inFlight = inFlight;
    }

    @Override
    @SuppressWarnings("deprecation") // Netty 4.1 knows no other class
    protected <T extends EventLoopGroup> EventExecutorGroup doCreateEventLoopGroup(
            Class<T> type, int threads, io.lettuce.core.resource.ThreadFactoryProvider factories) {
        if (IS_ALONE
                || !type.equals(Transports.eventLoopGroupClass())
                || !Transports.socketChannelClass().equals(NioSocketChannel.class)) {
            return super.doCreateEventLoopGroup(type, threads, factories);
        }
        return new NioEventLoopGroup(
                threads,
                factories.getThreadFactory("lettuce-nioEventLoop"),
                SelectorProvider.provider(),
                () -> new Wakeful(inFlight, new SystemTicks()));
    }

    /** What a thread does when it has nothing to do. For the one thread. */
    static final class Wakeful implements SelectStrategy {

        private final InFlight inFlight;
        private final LongSupplier ticks;

        // A server that answers at once says nothing of a program that takes its time, and the reverse.
        private final AdaptiveSpin forAnswers = new AdaptiveSpin();
        private final AdaptiveSpin forCommands = new AdaptiveSpin();

        /** What it is awake for; null when it is not. */
        private @Nullable AdaptiveSpin spin;

        private long idleSince;

        Wakeful(InFlight inFlight, LongSupplier ticks) {
            this.inFlight = inFlight;
            this.ticks = ticks;
        }

        @Override
        @SuppressWarnings("ThreadPriorityCheck") // a hint: nothing but speed depends on it
        public int calculateStrategy(IntSupplier selectNow, boolean hasTasks) throws Exception {
            int ready = selectNow.get();
            boolean isBusy = hasTasks || ready > 0;
            AdaptiveSpin present = spin;
            if (isBusy && present == null) {
                return ready;
            }
            long now = ticks.getAsLong();
            if (present == null) {
                AdaptiveSpin next = inFlight.isUnderWay() ? forAnswers : forCommands;
                if (!next.isWorthwhile(now)) {
                    return SELECT;
                }
                spin = next;
                idleSince = now;
            } else if (now - idleSince >= most(present)) {
                // It may be there by now, but others have had the processor for longer than that.
                present.wasInVain(now, now - idleSince);
                spin = null;
                return isBusy ? ready : SELECT;
            } else if (isBusy) {
                present.paidOff();
                spin = null;
                return ready;
            }
            Thread.yield();
            return 0;
        }

        private long most(AdaptiveSpin present) {
            return present == forAnswers ? MOST_NANOS_FOR_ANSWERS : MOST_NANOS_FOR_COMMANDS;
        }
    }
}
