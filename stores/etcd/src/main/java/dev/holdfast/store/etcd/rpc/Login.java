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
 * The token of a user, which the server gives for a password and forgets after a while. Calls that need a new one at
 * the same time share one request for it.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class Login {

    /** Of nobody, and on servers that know no users. */
    static final String NONE = "";

    private final @Nullable String user;
    private final Supplier<char[]> password;
    private final Executor asking;
    private @Nullable CompletableFuture<String> token;

    private Login(@Nullable String user, Supplier<char[]> password, Executor asking) {
        this.user = user;
        this.password = password;
        this.asking = asking;
    }

    /** Nobody, or whoever a certificate names. */
    public static Login nobody() {
        return new Login(null, () -> new char[0], Runnable::run);
    }

    /**
     * A user.
     *
     * @param password asked each time that a token is needed
     * @param asking where it is asked, since that may take a while
     */
    public static Login of(String user, Supplier<char[]> password, Executor asking) {
        return new Login(user, password, asking);
    }

    /**
     * The present token, or a new one.
     *
     * @param refused a token that is of no use any more; null for none
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
            boolean isUseless = present == null
                    || present.isCompletedExceptionally()
                    || (present.isDone() && present.join().equals(refused));
            if (present != null && !isUseless) {
                return present;
            }
            next = new CompletableFuture<>();
            token = next;
        }
        ask(user, authenticate, next);
        return next;
    }

    private void ask(
            String name, Function<byte[], CompletableFuture<byte[]>> authenticate, CompletableFuture<String> next) {
        var unused = CompletableFuture.supplyAsync(() -> request(name), asking)
                .thenCompose(authenticate)
                .whenComplete((answer, failure) -> {
                    if (failure == null) {
                        next.complete(token(answer));
                    } else if (Stages.causeOf(failure) instanceof CallFailure known
                            && Failures.isAuthenticationOff(known)) {
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
            // Without its words, which may be anything, a secret among them.
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
