package dev.holdfast.store.register;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Commands to a store, and its replies. */
public final class Commands {

    private Commands() {}

    /** Executes a command. */
    public static Reply answer(LockStore store, Command command) {
        return store.execute(command, CallerMode.ASYNC)
                .toCompletableFuture()
                .copy()
                .orTimeout(2, TimeUnit.MINUTES)
                .join();
    }

    /** Opens a session. */
    public static SessionId open(LockStore store, Duration ttl) {
        return ((Reply.SessionOpened) answer(store, new Command.OpenSession(ttl, "one"))).session();
    }

    /** A claim to a mutex. */
    public static Acquire mutex(ClaimRef claim, Waiting waiting) {
        return claim(claim, ResourceSpec.MUTEX, 1, Lease.SESSION, waiting);
    }

    /** A first claim of epoch 0. */
    public static Acquire claim(ClaimRef claim, ResourceSpec spec, int weight, Lease lease, Waiting waiting) {
        return new Acquire(claim, 0, Sending.FIRST, spec, weight, lease, waiting, 1);
    }
}
