package dev.holdfast.store.redis.connection;

import dev.holdfast.spi.StoreException;
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

/** Passwords that are fetched for each new connection, so that they can change. */
public final class Passwords {

    private static final int LONGEST = 64 * 1024;

    private Passwords() {}

    /** Provides the password of a user. The supplier may block, so no thread of the driver waits for it. */
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
            // Its message may contain anything, even a secret.
            throw RedisFailures.denied(
                    "the password supplier threw " + e.getClass().getName(), null);
        }
        return RedisCredentials.just(user, answer);
    }

    /** The contents of a file without trailing line ends. */
    public static Supplier<char[]> ofFile(Path file) {
        return () -> {
            try {
                if (Files.size(file) > LONGEST) {
                    throw RedisFailures.denied(
                            "the password file " + file + " is larger than 64 KiB and can't be a password", null);
                }
                String text = Files.readString(file, StandardCharsets.UTF_8);
                int end = text.length();
                while (end > 0 && (text.charAt(end - 1) == '\n' || text.charAt(end - 1) == '\r')) {
                    end--;
                }
                return text.substring(0, end).toCharArray();
            } catch (NoSuchFileException e) {
                throw RedisFailures.denied("there is no password file " + file, null);
            } catch (IOException | UncheckedIOException e) {
                throw RedisFailures.denied(
                        "the password file " + file + " can't be read: "
                                + e.getClass().getSimpleName(),
                        null);
            }
        };
    }
}
