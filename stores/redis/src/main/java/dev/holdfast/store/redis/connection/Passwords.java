package dev.holdfast.store.redis.connection;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Passwords that are asked for each time that a connection is made, so that they may change meanwhile. */
public final class Passwords {

    private static final int LONGEST = 64 * 1024;

    private Passwords() {}

    /** Gives the password of a user; whoever is asked may take a while, so no thread of the driver waits for it. */
    public static RedisCredentialsProvider from(@Nullable String user, Supplier<char[]> password) {
        return () -> Mono.fromFuture(() -> CompletableFuture.supplyAsync(() -> asked(user, password)));
    }

    private static RedisCredentials asked(@Nullable String user, Supplier<char[]> password) {
        char[] answer;
        try {
            answer = password.get();
        } catch (StoreException known) {
            throw known;
        } catch (RuntimeException e) {
            // Its words may be anything, a secret among them.
            throw denied(
                    "whoever was asked for the password threw " + e.getClass().getName());
        }
        return RedisCredentials.just(user, answer);
    }

    /** What stands in a file, but for a line end after it. */
    public static Supplier<char[]> ofFile(Path file) {
        return () -> {
            try {
                if (Files.size(file) > LONGEST) {
                    throw denied("the password file " + file + " is no password: it has more than 64 KiB");
                }
                String text = Files.readString(file, StandardCharsets.UTF_8);
                int end = text.length();
                while (end > 0 && (text.charAt(end - 1) == '\n' || text.charAt(end - 1) == '\r')) {
                    end--;
                }
                return text.substring(0, end).toCharArray();
            } catch (NoSuchFileException e) {
                throw denied("there is no password file " + file);
            } catch (IOException | UncheckedIOException e) {
                throw denied("the password file " + file + " can't be read: "
                        + e.getClass().getSimpleName());
            }
        };
    }

    private static StoreException denied(String why) {
        return new StoreException(Reason.DENIED, Effect.NONE, why, null);
    }
}
