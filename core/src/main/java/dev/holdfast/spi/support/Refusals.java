package dev.holdfast.spi.support;

import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply.Refused;
import dev.holdfast.spi.ResourceSpec;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** The refusals of stores. Their details are parts of sentences in messages that users see. */
public final class Refusals {

    /** The counter of the resource has no more fencing tokens. */
    public static final Refused OUT_OF_TOKENS = new Refused(Refusal.EXHAUSTED, "its fencing tokens are exhausted");

    /** The claim was to pass a latch that counts. */
    public static final Refused LATCH_CLOSED = new Refused(Refusal.TAKEN, "the latch is not open");

    /** No one holds the resource, but others wait before the claim. */
    public static final Refused OTHERS_WAIT = new Refused(Refusal.TAKEN, "others wait for it");

    private Refusals() {}

    /** The resource is in use with another specification. */
    public static Refused mismatch(ResourceSpec declared) {
        String kind = declared.kind().name().toLowerCase(Locale.ROOT).replace('_', '-');
        String order = declared.order().name().toLowerCase(Locale.ROOT);
        return new Refused(
                Refusal.MISMATCH, "it is in use as " + order + " " + kind + " of capacity " + declared.capacity());
    }

    /** The claim asks for more than the current capacity. */
    public static Refused tooHeavy(long weight, long capacity) {
        return new Refused(
                Refusal.TOO_HEAVY, "the claim requests " + weight + ", but the capacity is currently " + capacity);
    }

    /** A holder is in the way, whose lease the store does not count. */
    public static Refused heldBy(String label, long token) {
        return new Refused(Refusal.TAKEN, holder(label, token));
    }

    /** A holder is in the way. */
    public static Refused heldBy(String label, long token, long leftMicros) {
        long second = TimeUnit.SECONDS.toMicros(1);
        long seconds = (leftMicros + second - 1) / second;
        return new Refused(Refusal.TAKEN, holder(label, token) + " and about " + seconds + " s of lease left");
    }

    private static String holder(String label, long token) {
        return "'" + label + "' holds it with token " + token;
    }
}
