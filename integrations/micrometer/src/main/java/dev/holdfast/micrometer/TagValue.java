package dev.holdfast.micrometer;

import dev.holdfast.AcquisitionListener.GrantSource;
import java.util.Locale;

/** Values of tags. */
final class TagValue {

    private TagValue() {}

    /** The source of a grant, as the outcome of a wait. */
    static String of(GrantSource source) {
        return source == GrantSource.STORE ? "granted" : "handed-over";
    }

    /** Such as {@code timed-out}. */
    static String of(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
