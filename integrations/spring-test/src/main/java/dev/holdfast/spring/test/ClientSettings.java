package dev.holdfast.spring.test;

import dev.holdfast.Holdfast;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.TestContextAnnotationUtils.AnnotationDescriptor;

/**
 * The checked settings of clients in an {@link EmbeddedHoldfast}.
 *
 * @param sessionTtl the ttl; null for the application's
 * @param storeTimeout the store time-out; null for the application's
 */
record ClientSettings(
        @Nullable Duration sessionTtl, @Nullable Duration storeTimeout) {

    private static final String ANNOTATION = "@" + EmbeddedHoldfast.class.getSimpleName();

    /**
     * The settings of a test; empty if it has no such annotation.
     *
     * @throws IllegalStateException if the annotation is invalid
     */
    static Optional<ClientSettings> of(Class<?> test) {
        AnnotationDescriptor<EmbeddedHoldfast> found =
                TestContextAnnotationUtils.findAnnotationDescriptor(test, EmbeddedHoldfast.class);
        if (found == null) {
            return Optional.empty();
        }
        Class<?> declaring = found.getRootDeclaringClass();
        List<ClientSettings> all = annotations(declaring)
                .map(each -> of(each, declaring))
                .distinct()
                .toList();
        if (all.size() > 1) {
            throw new IllegalStateException(declaring.getName() + " has several " + ANNOTATION
                    + " that contradict each other: " + all + ". Keep one, or make them agree.");
        }
        return Optional.of(all.get(0));
    }

    /** The annotations of a class itself, also composed ones. */
    private static Stream<MergedAnnotation<EmbeddedHoldfast>> annotations(Class<?> type) {
        return MergedAnnotations.from(type).stream(EmbeddedHoldfast.class);
    }

    private static ClientSettings of(MergedAnnotation<EmbeddedHoldfast> annotation, Class<?> on) {
        ClientSettings settings = new ClientSettings(
                duration(annotation.getString("sessionTtl"), "sessionTtl", on),
                duration(annotation.getString("storeTimeout"), "storeTimeout", on));
        try {
            settings.applyTo(Holdfast.builder("memory:"));
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException(ANNOTATION + " on " + on.getName() + ": " + e.getMessage(), e);
        }
        return settings;
    }

    private static @Nullable Duration duration(String value, String attribute, Class<?> on) {
        String text = value.strip();
        if (text.isEmpty()) {
            return null;
        }
        String where = ANNOTATION + " on " + on.getName() + ": " + attribute + " = \"" + text + "\" ";
        if (text.chars().allMatch(Character::isDigit)) {
            throw new IllegalStateException(where + "has no unit. Write " + text + "ms or " + text + "s");
        }
        try {
            return DurationFormatterUtils.detectAndParse(text, DurationFormat.Unit.MILLIS);
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException(where + "is not a duration. Write it as 500ms, 10s, 1m30s or PT10S", e);
        }
    }

    /** The settings with these texts, see {@link #ttlText()}. */
    static ClientSettings ofTexts(String sessionTtl, String storeTimeout) {
        return new ClientSettings(
                sessionTtl.isEmpty() ? null : Duration.parse(sessionTtl),
                storeTimeout.isEmpty() ? null : Duration.parse(storeTimeout));
    }

    /** The ttl in the form of ISO 8601; empty for the application's. */
    String ttlText() {
        return sessionTtl == null ? "" : sessionTtl.toString();
    }

    /** The store time-out in the form of ISO 8601; empty for the application's. */
    String timeoutText() {
        return storeTimeout == null ? "" : storeTimeout.toString();
    }

    boolean isEmpty() {
        return sessionTtl == null && storeTimeout == null;
    }

    /** Applies the settings to a client. */
    void applyTo(Holdfast.Builder builder) {
        if (sessionTtl != null) {
            builder.sessionTtl(sessionTtl);
        }
        if (storeTimeout != null) {
            builder.storeTimeout(storeTimeout);
        }
    }
}
