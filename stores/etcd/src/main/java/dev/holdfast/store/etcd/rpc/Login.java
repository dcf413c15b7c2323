package dev.holdfast.store.etcd.rpc;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.Stages;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The token of a user, which the server issues for a password and forgets after some time. Calls that need a new token
 * share one request for it.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class Login {

    /** The token of an anonymous client, and on servers without authentication. */
    static final String NONE = "";

    private final @Nullable String user;
    private final Supplier<char[]> password;
    private final Executor passwordExecutor;
    private @Nullable CompletableFuture<String> token;

    private Login(@Nullable String user, Supplier<char[]> password, Executor passwordExecutor) {
        this.user = user;
        this.password = password;
        this.passwordExecutor = passwordExecutor;
    }

    /** An anonymous client, or the user that the client certificate names. */
    public static Login anonymous() {
        return new Login(null, () -> new char[0], Runnable::run);
    }

    /**
     * A user.
     *
     * @param password queried whenever a token is needed
     * @param passwordExecutor runs the query, which may take long
     */
    public static Login of(String user, Supplier<char[]> password, Executor passwordExecutor) {
        return new Login(user, password, passwordExecutor);
    }

    /**
     * The present token, or a new one.
     *
     * @param refused a token that the server rejected; null for none
     * @param authenticate sends a request for a token
     */
    CompletableFuture<String> token(
            @Nullable String refused, Function<byte[], CompletableFuture<byte[]>> authenticate) {
        if (user == null) {
            return CompletableFuture.completedFuture(NONE);
        }
        CompletableFuture<String> next;
        synchronized (this) {
            CompletableFuture<String> present = token;
            boolean isInvalid = present == null
                    || present.isCompletedExceptionally()
                    || (present.isDone() && present.join().equals(refused));
            if (present != null && !isInvalid) {
                return present;
            }
            next = new CompletableFuture<>();
            token = next;
        }
        requestToken(user, authenticate, next);
        return next;
    }

    private void requestToken(
            String name, Function<byte[], CompletableFuture<byte[]>> authenticate, CompletableFuture<String> next) {
        var unused = CompletableFuture.supplyAsync(() -> request(name), passwordExecutor)
                .thenCompose(authenticate)
                .whenComplete((answer, failure) -> {
                    if (failure == null) {
                        next.complete(token(answer));
                    } else if (Stages.causeOf(failure) instanceof CallFailure known
                            && EtcdFailures.isAuthenticationOff(known)) {
                        next.complete(NONE);
                    } else {
                        next.completeExceptionally(Stages.causeOf(failure));
                    }
                });
    }

    private byte[] request(String name) {
        char[] secret;
        try {
            secret = password.get();
        } catch (StoreException known) {
            throw known;
        } catch (RuntimeException e) {
            // Without its message, which may contain a secret.
            throw new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    "the password supplier threw " + e.getClass().getName(),
                    null);
        }
        return new MessageWriter()
                .bytes(1, name.getBytes(StandardCharsets.UTF_8))
                .bytes(2, new String(secret).getBytes(StandardCharsets.UTF_8))
                .toBytes();
    }

    private static String token(byte[] answer) {
        MessageReader message = new MessageReader(answer);
        for (int field = message.next(); field != 0; field = message.next()) {
            if (field == 2) {
                return new String(message.bytes(), StandardCharsets.UTF_8);
            }
        }
        return NONE;
    }
}
