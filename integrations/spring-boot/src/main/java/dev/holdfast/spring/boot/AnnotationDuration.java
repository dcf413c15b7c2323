package dev.holdfast.spring.boot;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.converter.ConditionalGenericConverter;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/** A property that accepts the durations of annotations, such as {@code 1m30s}, and those of Spring Boot. */
@Target({ElementType.PARAMETER, ElementType.RECORD_COMPONENT})
@Retention(RetentionPolicy.RUNTIME)
@interface AnnotationDuration {

    /** Reads only such properties. Spring Boot tries to read what this rejects. */
    final class Reader implements ConditionalGenericConverter {

        @Override
        public boolean matches(TypeDescriptor sourceType, TypeDescriptor targetType) {
            return targetType.hasAnnotation(AnnotationDuration.class);
        }

        @Override
        public Set<ConvertiblePair> getConvertibleTypes() {
            return Set.of(new ConvertiblePair(String.class, Duration.class));
        }

        @Override
        public @Nullable Object convert(@Nullable Object source, TypeDescriptor sourceType, TypeDescriptor targetType) {
            String text = source == null ? "" : source.toString().strip();
            return text.isEmpty() ? null : DurationFormatterUtils.detectAndParse(text, DurationFormat.Unit.MILLIS);
        }
    }
}
