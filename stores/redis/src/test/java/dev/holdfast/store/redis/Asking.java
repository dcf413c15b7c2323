package dev.holdfast.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Commands that several tests send to a store. */
final class Asking {

    private Asking() {}

    static Reply send(LockStore store, Command command) {
        return store.execute(command, CallerMode.BLOCKING)
                .toCompletableFuture()
                .orTimeout(60, TimeUnit.SECONDS)
                .join();
    }

    @CanIgnoreReturnValue
    static <R extends Reply> R send(LockStore store, Command command, Class<R> expected) {
        Reply reply = send(store, command);
        assertThat(reply).isInstanceOf(expected);
        return expected.cast(reply);
    }

    /** The failure of a command. */
    static StoreException failure(LockStore store, Command command) {
        Throwable thrown = catchThrowable(() -> send(store, command));
        assertThat(thrown).isInstanceOf(CompletionException.class);
        assertThat(thrown.getCause()).isInstanceOf(StoreException.class);
        return (StoreException) thrown.getCause();
    }

    static SessionId session(LockStore store, Duration ttl) {
        return send(store, new Command.OpenSession(ttl, "test"), Reply.SessionOpened.class)
                .session();
    }

    static ClaimRef claim(String name, SessionId session, long number) {
        return new ClaimRef(new ResourceName(name), session, number);
    }

    static Command.Acquire acquire(ClaimRef claim) {
        return new Command.Acquire(
                claim, 0, Command.Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Command.Waiting.QUEUE, 1);
    }

    /** The number of waiters of the names with a prefix. */
    static long waiting(LockStore store, String prefix) {
        return inspectAll(store, prefix).stream()
                .mapToLong(ResourceInfo::waiting)
                .sum();
    }

    /** The resources in use with a prefix. */
    static List<ResourceInfo> inspectAll(LockStore store, String prefix) {
        List<ResourceInfo> all = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            Reply.Inspected page = send(store, new Command.Inspect(prefix, cursor, 200), Reply.Inspected.class);
            all.addAll(page.resources());
            cursor = page.cursor();
        } while (cursor.isPresent());
        return all;
    }

    static void until(String what, BooleanSupplier isSo) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!isSo.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("It did not come about that " + what);
            }
            LockSupport.parkNanos(2_000_000);
        }
    }

    /** Requests the locks of this many names at once. */
    static List<CompletableFuture<Hold>> acquireAll(Holdfast client, int names) {
        List<CompletableFuture<Hold>> pending = new ArrayList<>();
        for (int i = 0; i < names; i++) {
            pending.add(client.lock("name/" + i).acquireAsync().toCompletableFuture());
        }
        return pending;
    }

    static List<Hold> holds(List<CompletableFuture<Hold>> pending) throws Exception {
        List<Hold> granted = new ArrayList<>();
        for (CompletableFuture<Hold> hold : pending) {
            granted.add(hold.get(1, TimeUnit.MINUTES));
        }
        return granted;
    }
}
