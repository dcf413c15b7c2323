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
 * The connection threads shared by all stores in this process for which the program provides none. The first store
 * starts them, and the last ends them: ten clients, or the members of a quorum, use as many threads as one. One of two
 * threads handles each reply; nothing blocks on them.
 */
final class SharedEventLoops {

    private static final int CONNECTION_THREADS = 2;
    private static final int COMPUTATION_THREADS = 2;

    /** Long enough for everything worth waiting for: channels close in less. */
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
        // Allocated even while no client uses it: otherwise the driver could end the threads of a client that starts
        // while another one ends.
        loops = resources.eventLoopGroupProvider().allocate(Transports.eventLoopGroupClass());
    }

    /** Registers one more store, which must call {@link #release()} once. */
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

    /** The requests in flight on all connections. */
    InFlight inFlight() {
        return inFlight;
    }

    /** Unregisters a store. If it was the last, the stage completes when the threads have ended. */
    CompletionStage<String> release() {
        synchronized (LOCK) {
            users--;
            if (users > 0) {
                return CompletableFuture.completedFuture("still in use by other stores");
            }
            present = null;
        }
        // As of Netty 4.2.16, a name resolver that is closed after its thread has ended leaves its socket open.
        loops.forEach(loop -> resources.addressResolverGroup().getResolver(loop).close());
        // Connections in progress fail when their thread ends, and report it on the computation threads, which
        // therefore end later.
        return ended(resources.eventLoopGroupProvider().shutdown(0, MAX_SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS))
                .thenCompose(done -> ended(resources.shutdown(0, MAX_SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS)));
    }

    private static CompletionStage<String> ended(Future<Boolean> shutdown) {
        CompletableFuture<String> ended = new CompletableFuture<>();
        shutdown.addListener(done -> ended.complete("ended"));
        return ended;
    }
}
