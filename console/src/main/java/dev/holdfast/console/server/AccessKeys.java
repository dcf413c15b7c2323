package dev.holdfast.console.server;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.Iterator;
import java.util.Optional;

/**
 * Keys that open the console once, and the cookies they are exchanged for. Both are 256 random bits, compared in
 * constant time, and are forgotten with the process.
 */
final class AccessKeys {

    static final Duration KEY_LIFE = Duration.ofMinutes(5);
    static final Duration COOKIE_LIFE = Duration.ofHours(12);

    private static final int BYTES = 32;
    private static final int MAX_WRONG = 5;
    private static final Duration WRONG_SPAN = Duration.ofMinutes(1);
    private static final int MAX_COOKIES = 50;

    /** A secret and when it ends. */
    private record Secret(String text, Instant ends) {

        boolean matches(String other) {
            return MessageDigest.isEqual(bytes(text), bytes(other));
        }

        private static byte[] bytes(String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
    }

    /** Too many wrong keys: even the right one is refused for a while. */
    static final class TooManyAttemptsException extends Exception {
        private static final long serialVersionUID = 1L;
    }

    private final SecureRandom random = new SecureRandom();
    private final Clock clock;

    @GuardedBy("this")
    private final Deque<Secret> cookies = new ArrayDeque<>();

    @GuardedBy("this")
    private final Deque<Instant> wrong = new ArrayDeque<>();

    @GuardedBy("this")
    private Optional<Secret> key = Optional.empty();

    AccessKeys(Clock clock) {
        this.clock = clock;
    }

    /** A new key; the one before is void. */
    synchronized String newKey() {
        String text = secret();
        key = Optional.of(new Secret(text, clock.instant().plus(KEY_LIFE)));
        return text;
    }

    /**
     * Exchanges a key for a cookie.
     *
     * @return the value of the cookie; empty if the key is wrong, used up or too old
     * @throws TooManyAttemptsException after five wrong keys in a minute
     */
    synchronized Optional<String> exchange(String given) throws TooManyAttemptsException {
        Instant now = clock.instant();
        wrong.removeIf(at -> at.plus(WRONG_SPAN).isBefore(now));
        if (wrong.size() >= MAX_WRONG) {
            throw new TooManyAttemptsException();
        }
        boolean isRight = key.map(secret -> secret.matches(given) && now.isBefore(secret.ends()))
                .orElse(false);
        if (!isRight) {
            wrong.addLast(now);
            return Optional.empty();
        }
        key = Optional.empty();
        String cookie = secret();
        if (cookies.size() == MAX_COOKIES) {
            cookies.removeFirst();
        }
        cookies.addLast(new Secret(cookie, now.plus(COOKIE_LIFE)));
        return Optional.of(cookie);
    }

    /** Whether a cookie was given out by this process and has not ended. */
    synchronized boolean isValid(String cookie) {
        Instant now = clock.instant();
        boolean isValid = false;
        for (Iterator<Secret> all = cookies.iterator(); all.hasNext(); ) {
            Secret secret = all.next();
            if (!now.isBefore(secret.ends())) {
                all.remove();
            } else if (secret.matches(cookie)) {
                isValid = true; // no early exit: the time must not depend on which one it is
            }
        }
        return isValid;
    }

    private String secret() {
        byte[] bytes = new byte[BYTES];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
