package dev.holdfast.spring.advice;

import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.RecordComponent;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ReflectionUtils;

/** Finds texts that identify an object instead of its value. As keys of locks they would exclude nothing. */
final class IdentityText {

    /** The text of an array, alone or in another text. */
    private static final Pattern ARRAY = Pattern.compile("\\[+(?:[BCDFIJSZ]|L[\\w.$]+;)@[0-9a-f]+");

    /** Whether a class overrides {@link Object#toString()}. */
    private static final ClassValue<Boolean> HAS_TEXT = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            try {
                return type.getMethod("toString").getDeclaringClass() != Object.class;
            } catch (NoSuchMethodException e) {
                return false;
            }
        }
    };

    private IdentityText() {}

    /** Whether the text of an object identifies it, or may do so. */
    static boolean isIn(Object value, @Nullable String text) {
        Class<?> type = value.getClass();
        return !HAS_TEXT.get(type)
                || Proxy.isProxyClass(type)
                || AopUtils.isAopProxy(value)
                || (text != null
                        && (text.endsWith(suffix(value)) || ARRAY.matcher(text).find()))
                || (text != null && value instanceof Record && isInComponent(value, text));
    }

    private static String suffix(Object value) {
        return "@" + Integer.toHexString(value.hashCode());
    }

    /** Whether a record, or one in it, has a component whose class does not override {@code toString}. */
    private static boolean isInComponent(Object value, String text) {
        for (RecordComponent component : value.getClass().getRecordComponents()) {
            Object part = component(value, component.getAccessor());
            if (part != null && (isShown(part, text) || (part instanceof Record && isInComponent(part, text)))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isShown(Object part, String text) {
        return !HAS_TEXT.get(part.getClass()) && text.contains(part.getClass().getName() + suffix(part));
    }

    private static @Nullable Object component(Object value, Method accessor) {
        try {
            ReflectionUtils.makeAccessible(accessor);
        } catch (InaccessibleObjectException e) {
            return null;
        }
        return ReflectionUtils.invokeMethod(accessor, value);
    }
}
