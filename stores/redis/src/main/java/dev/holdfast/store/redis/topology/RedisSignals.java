package dev.holdfast.store.redis.topology;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Listeners;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Converts the messages on this client's channels into signals. */
public final class RedisSignals {

    private static final Logger LOG = LoggerFactory.getLogger(RedisSignals.class);

    private final Listeners listeners = new Listeners();
    private volatile boolean subscribedBefore;

    public LockStore.Subscription subscribe(Consumer<Signal> listener) {
        return listeners.add(listener);
    }

    /** Stops notifying listeners. */
    public void close() {
        listeners.clear();
    }

    /** The listener for a new connection. */
    RedisPubSubAdapter<byte[], byte[]> subscriber() {
        return new RedisPubSubAdapter<>() {
            @Override
            public void message(byte[] channel, byte[] message) {
                receive(message);
            }
        };
    }

    /** Reports a new subscription: messages since the loss of the last one were missed. */
    void subscribed() {
        if (subscribedBefore) {
            listeners.accept(new Signal.Resubscribed());
        }
        subscribedBefore = true;
    }

    /** The same for one bucket. */
    void subscribed(int bucket) {
        listeners.accept(new Signal.Resubscribed(OptionalInt.of(bucket)));
    }

    /** Handles a message on one of this client's channels. */
    void receive(byte[] message) {
        Optional<Signal> signal;
        try {
            signal = read(new String(message, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            // Anyone allowed to publish may publish anything, and signals are only hints.
            LOG.debug("a foreign message was ignored", e);
            return;
        } catch (RuntimeException | Error e) {
            // If thrown, it would end the connection.
            LOG.error("a signal was lost; its receiver will find the change by polling", e);
            return;
        }
        signal.ifPresent(listeners);
    }

    /** Reads a signal; empty if its kind is unknown, as that of a newer version. */
    static Optional<Signal> read(String message) {
        if (message.length() < 3) {
            throw new IllegalArgumentException("The signal is too short: '" + message + "'");
        }
        char kind = message.charAt(0);
        String rest = message.substring(2);
        return switch (kind) {
            case 'E' -> Optional.of(new Signal.SessionEnded(new SessionId(rest)));
            case 'C' -> Optional.of(new Signal.Changed(claim(rest.split(" ", 3), 2)));
            case 'R' -> Optional.of(new Signal.Revoked(claim(rest.split(" ", 3), 2)));
            case 'G' -> Optional.of(granted(rest.split(" ", 6)));
            default -> Optional.empty();
        };
    }

    private static Signal granted(String[] words) {
        ClaimRef claim = claim(words, 5);
        TokenBlock tokens = new TokenBlock(Long.parseLong(words[2]), Long.parseLong(words[3]));
        return new Signal.Granted(claim, new Reply.Granted(tokens, Optional.empty(), !words[4].equals("0")));
    }

    /** Session, claim, and last the name, which may contain anything. */
    private static ClaimRef claim(String[] words, int name) {
        if (words.length != name + 1) {
            throw new IllegalArgumentException("Not a valid number of words in a signal: " + words.length);
        }
        return new ClaimRef(new ResourceName(words[name]), new SessionId(words[0]), Long.parseLong(words[1]));
    }
}
