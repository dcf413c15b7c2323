package dev.holdfast.engine.local;

import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Annotate;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits.Feature;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What this client tells others about one of its grants, as its annotation at the store: the message of the oldest hold
 * that has one, and lines about what its owners wait for. Made when there is something to tell for the first time.
 *
 * <p>One command is in flight at a time, and what changes meanwhile follows with the next one: so a lock that is handed
 * over fast sends few. No hold waits for it. Guarded by the lock of the resource.
 */
final class GrantNote {

    /** A store may drop an annotation that was not replaced for twice as long. */
    private static final long REPEAT_NANOS = TimeUnit.MINUTES.toNanos(30);

    private final Grant grant;
    private final Resource resource;

    /** The messages of the live holds, oldest first; null before the first. */
    private @Nullable Map<LocalHold, String> messages;

    private List<String> waits = List.of();

    /** The number of the last command. */
    private long seq;

    private boolean isInFlight;

    /** The text that the store has; null if that is unknown. */
    private @Nullable String stored = "";

    /** When the last command was sent. */
    private long sentAt;

    GrantNote(Grant grant, Resource resource) {
        this.grant = grant;
        this.resource = resource;
    }

    /** A hold was made under the grant. */
    void entered(LocalHold hold, @Nullable String message, DeferredActions deferred) {
        if (message != null) {
            messages = messages == null ? new LinkedHashMap<>() : messages;
            messages.put(hold, message);
        }
        send(deferred);
    }

    /** A hold has ended. If it was the last one, the grant ends too, or serves another, which then tells its own. */
    void left(LocalHold hold, DeferredActions deferred) {
        if (messages != null && messages.remove(hold) != null && !grant.isIdle()) {
            send(deferred);
        }
    }

    /** The message of the oldest live hold that has one; empty if none has. */
    String message() {
        return messages == null || messages.isEmpty()
                ? ""
                : messages.values().iterator().next();
    }

    /**
     * Replaces the lines about what the owners wait for. Lines that would be too much are left out, the last ones
     * first. If the store may not have the last text, it is sent again.
     */
    void waits(List<String> lines, DeferredActions deferred) {
        waits = List.copyOf(lines);
        send(deferred);
    }

    /** Repeats what the store may not have, or may soon drop. */
    void refresh(DeferredActions deferred) {
        if (stored != null && !stored.isEmpty() && resource.now() - sentAt >= REPEAT_NANOS) {
            stored = null;
        }
        send(deferred);
    }

    private String text() {
        StringBuilder text = new StringBuilder(message());
        int left = Annotate.MAX_TEXT_BYTES - text.toString().getBytes(StandardCharsets.UTF_8).length;
        for (String line : waits) {
            left -= 1 + line.getBytes(StandardCharsets.UTF_8).length;
            if (left < 0) {
                break;
            }
            text.append('\n').append(line);
        }
        return text.toString();
    }

    private void send(DeferredActions deferred) {
        String text = text();
        if (isInFlight
                || text.equals(stored)
                || !grant.claim.isHeld()
                || !resource.context().traits().has(Feature.ANNOTATIONS)) {
            return;
        }
        seq++;
        isInFlight = true;
        sentAt = resource.now();
        grant.claim.noteAnnotated();
        Command annotate = new Annotate(grant.ref(), seq, text);
        deferred.add(() -> resource.partition.wire.send(annotate, CallerMode.ASYNC, new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sent) {
                answered(text, text);
            }

            @Override
            public void failure(StoreException failure, long sent) {
                answered(text, null);
            }
        }));
    }

    /** @param known what the store has now; null if that is unknown */
    private void answered(String sent, @Nullable String known) {
        resource.step(deferred -> {
            isInFlight = false;
            stored = known;
            // A failed command is repeated with the next change or audit, not in a loop.
            if (!text().equals(sent)) {
                send(deferred);
            }
        });
    }
}
