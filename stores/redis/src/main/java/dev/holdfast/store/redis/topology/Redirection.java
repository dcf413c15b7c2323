package dev.holdfast.store.redis.topology;

import dev.holdfast.spi.support.Stages;
import io.lettuce.core.RedisCommandExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A cluster node's refusal before any effect: another node serves the slot, or it can't be served just now. So sending
 * the same command again can't apply it twice.
 *
 * @param kind how to proceed
 * @param place the address to send to, if the node has named one; its host is empty if it is the answering node's
 */
record Redirection(Kind kind, Slots.@Nullable Place place) {

    /** How to proceed. */
    enum Kind {
        /** Send to another node, which serves the slot from now on. */
        MOVED,
        /** Send to another node just once: the slot is migrating to it. */
        ASK,
        /** Send again later: only some of the keys have migrated, or no node serves the slot. */
        LATER
    }

    /** The redirection in a failure; null if it has none. */
    static @Nullable Redirection of(Throwable failure) {
        if (!(Stages.causeOf(failure) instanceof RedisCommandExecutionException refusal)) {
            return null;
        }
        String[] words = String.valueOf(refusal.getMessage()).split(" ", -1);
        return switch (words[0]) {
            case "MOVED" -> words.length >= 3 ? to(Kind.MOVED, words[2]) : null;
            case "ASK" -> words.length >= 3 ? to(Kind.ASK, words[2]) : null;
            case "TRYAGAIN", "CLUSTERDOWN" -> new Redirection(Kind.LATER, null);
            default -> null;
        };
    }

    private static @Nullable Redirection to(Kind kind, String place) {
        int colon = place.lastIndexOf(':');
        try {
            int port = Integer.parseInt(place.substring(colon + 1));
            return colon < 0 ? null : new Redirection(kind, new Slots.Place(place.substring(0, colon), port));
        } catch (NumberFormatException e) {
            return null;
        }
    }
}
