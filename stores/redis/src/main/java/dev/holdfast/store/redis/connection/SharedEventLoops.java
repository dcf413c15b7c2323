package dev.holdfast.store.redis.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Transports;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The threads of the connections of all stores in this process to which the program gives none of its own. The first
 * store starts them, and the last ends them: ten clients of a server, or the members of a quorum, have those of one.
 * What a server answers is taken by one of two threads, on which nothing blocks.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
final class SharedEventLoops {

    private static final int CONNECTION_THREADS = 2;
    private static final int COMPUTATION_THREADS = 2;

    /** Within that time all is done that is worth waiting for: channels are closed by then. */
    private static final long MAX_SHUTDOWN_MILLIS = 1_000;

    private static final Object LOCK = new Object();

    @GuardedBy("LOCK")
    private static @Nullable SharedEventLoops present;

    private final InFlight inFlight = new InFlight();
    private final ClientResources resources = DefaultClientResources.builder()
            .eventLoopGroupProvider(new SpinningEventLoops(CONNECTION_THREADS, inFlight))
            .computationThreadPoolSize(COMPUTATION_THREADS)
            .build();

    private final EventLoopGroup loops;

    @GuardedBy("LOCK")
    private int users;

    private SharedEventLoops() {
        // Kept also while no client has them: the driver may end those of a client that comes as another goes.
        loops = resources.eventLoopGroupProvider().allocate(Transports.eventLoopGroupClass());
    }

    /** For one store more; {@link #release()} is to follow, once. */
    static SharedEventLoops acquire() {
        synchronized (LOCK) {
            SharedEventLoops shared = present;
            if (shared == null) {
                shared = new SharedEventLoops();
                present = shared;
            }
            shared.users++;
            return shared;
        }
    }

    ClientResources resources() {
        return resources;
    }

    /** What is under way on all connections. */
    InFlight inFlight() {
        return inFlight;
    }

    /** For one store less. The stage ends when the threads have, if it was the last. */
    CompletionStage<String> release() {
        synchronized (LOCK) {
            users--;
            if (users > 0) {
                return CompletableFuture.completedFuture("others use them");
            }
            present = null;
        }
        // As of Netty 4.2.16, a resolver of names that is closed after its thread has ended leaves its socket open.
        loops.forEach(loop -> resources.addressResolverGroup().getResolver(loop).close());
        // What is still connecting fails when its thread ends, and that is told on the threads that end after it.
        return ended(resources.eventLoopGroupProvider().shutdown(0, MAX_SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS))
                .thenCompose(done -> ended(resources.shutdown(0, MAX_SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS)));
    }

    private static CompletionStage<String> ended(Future<Boolean> shutdown) {
        CompletableFuture<String> ended = new CompletableFuture<>();
        shutdown.addListener(done -> ended.complete("ended"));
        return ended;
    }
}
