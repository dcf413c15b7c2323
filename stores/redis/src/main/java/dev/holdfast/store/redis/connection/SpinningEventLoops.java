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
 * The connections' threads. If replies, or the commands after them, arrive quickly, such a thread briefly polls for
 * them before it sleeps: with a nearby server, waking threads takes most of a round-trip time. Native transports, if
 * the program has one, sleep as usual.
 */
final class SpinningEventLoops extends DefaultEventLoopGroupProvider {

    /** The time of a request to a nearby server and its reply. */
    static final long MOST_NANOS_FOR_ANSWERS = 200_000;

    /** The time of an otherwise idle program from a reply to its next command. */
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
                () -> new SpinningSelectStrategy(inFlight, new SystemTicks()));
    }

    /** What an idle thread does. Confined to that thread. */
    static final class SpinningSelectStrategy implements SelectStrategy {

        private final InFlight inFlight;
        private final LongSupplier ticks;

        // Separate, because fast replies don't mean that the program sends its next command quickly, nor the reverse.
        private final AdaptiveSpin forAnswers = new AdaptiveSpin();
        private final AdaptiveSpin forCommands = new AdaptiveSpin();

        /** What it spins for; null if it doesn't spin. */
        private @Nullable AdaptiveSpin spin;

        private long idleSince;

        SpinningSelectStrategy(InFlight inFlight, LongSupplier ticks) {
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
                // Input may have arrived, but another thread has used the processor for longer than that.
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
