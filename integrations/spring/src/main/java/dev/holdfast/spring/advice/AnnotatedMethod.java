package dev.holdfast.spring.advice;

import dev.holdfast.spring.LockedDefaults;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.config.BeanExpressionContext;
import org.springframework.beans.factory.config.BeanExpressionResolver;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/** A method with an annotation of Holdfast; resolves the texts of its attributes and names it in messages. */
final class AnnotatedMethod {

    private final ConfigurableListableBeanFactory beans;
    private final String annotation;
    private final Method method;
    private final Class<?> targetClass;
    private final String name;

    AnnotatedMethod(ConfigurableListableBeanFactory beans, String annotation, Method method, Class<?> targetClass) {
        this.beans = beans;
        this.annotation = annotation;
        this.method = method;
        this.targetClass = targetClass;
        this.name = MethodNames.of(method, targetClass);
    }

    ConfigurableListableBeanFactory beans() {
        return beans;
    }

    Method method() {
        return method;
    }

    Class<?> targetClass() {
        return targetClass;
    }

    /** A description of the method, for people. */
    String name() {
        return name;
    }

    LockedDefaults defaults() {
        return beans.getBeanProvider(LockedDefaults.class).getIfAvailable(LockedDefaults::standard);
    }

    IllegalStateException misuse(String problem) {
        return MethodNames.misuse(annotation, name, problem);
    }

    IllegalStateException misuse(String problem, Exception cause) {
        IllegalStateException misuse = misuse(problem + ": " + cause.getMessage());
        misuse.initCause(cause);
        return misuse;
    }

    /** An attribute with its placeholders resolved and its {@code #{…}} evaluated; empty if it is not set. */
    String text(String attribute, String value) {
        String text = expression(attribute, value);
        return text.contains("#{") ? evaluated(attribute, text) : text;
    }

    private String evaluated(String attribute, String text) {
        BeanExpressionResolver resolver = beans.getBeanExpressionResolver();
        Object result;
        try {
            result = resolver == null ? null : resolver.evaluate(text, new BeanExpressionContext(beans, null));
        } catch (BeansException e) {
            throw misuse(attribute + " = \"" + text + "\" can't be evaluated", e);
        }
        if (result == null || result.toString().isBlank()) {
            throw misuse(attribute + " = \"" + text + "\" evaluates to null");
        }
        return result.toString();
    }

    /** An attribute that is an expression over the call, with its placeholders resolved; empty if it is not set. */
    String expression(String attribute, String value) {
        if (value.isEmpty()) {
            return "";
        }
        @Nullable String resolved;
        try {
            resolved = beans.resolveEmbeddedValue(value);
        } catch (IllegalArgumentException e) {
            throw misuse(attribute + " = \"" + value + "\" has a placeholder without a value", e);
        }
        if (resolved != null && resolved.contains("${")) {
            // Without a configuration of placeholders, those without a value stay as they are.
            throw misuse(attribute + " = \"" + value + "\" has a placeholder without a value");
        }
        if (resolved == null || resolved.isBlank()) {
            throw misuse(attribute + " = \"" + value + "\" is blank"
                    + (value.isBlank() ? "" : " after its placeholders are resolved"));
        }
        return resolved;
    }

    /** An attribute that may be set at most once; the default if it is not set. */
    <T> T single(String attribute, T[] values, T otherwise) {
        if (values.length > 1) {
            throw misuse(attribute + " is set to " + values.length + " values; set only one of them");
        }
        return values.length == 0 ? otherwise : values[0];
    }

    /** An attribute that is a duration; empty if it is not set. */
    Optional<Duration> duration(String attribute, String value) {
        String text = text(attribute, value).strip();
        if (text.isEmpty()) {
            return Optional.empty();
        }
        if (text.chars().allMatch(Character::isDigit)) {
            throw misuse(attribute + " = \"" + text + "\" has no unit. Write " + text + "ms or " + text + "s");
        }
        try {
            return Optional.of(DurationFormatterUtils.detectAndParse(text, DurationFormat.Unit.MILLIS));
        } catch (IllegalArgumentException e) {
            throw misuse(
                    attribute + " = \"" + text + "\" is not a duration. Write it as 500ms, 10s, 1m30s or PT10S", e);
        }
    }
}
