package dev.holdfast.store.redis.topology;

import dev.holdfast.spi.support.Stages;
import io.lettuce.core.RedisCommandExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * What a node of a cluster answers before it does anything: that another one serves the slot, or that it can't be
 * served just now. So the same command may be sent again without doing twice what it does.
 *
 * @param kind what is to be done
 * @param place where it is to be sent, if the node has said so; its host is empty where it is that of the node that
 *     answered
 */
record Redirection(Kind kind, Slots.@Nullable Place place) {

    /** What is to be done. */
    enum Kind {
        /** Another node serves the slot from now on. */
        MOVED,
        /** Another node serves it this time: the slot is on its way there. */
        ASK,
        /**
         * Some of the keys have gone with the slot and some have not, or nobody serves it: it is to be sent again in a
         * while.
         */
        LATER
    }

    /** What a failure says of where to go; null if nothing. */
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
