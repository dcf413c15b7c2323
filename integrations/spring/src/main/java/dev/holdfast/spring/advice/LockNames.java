package dev.holdfast.spring.advice;

import dev.holdfast.spi.ResourceName;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ObjectUtils;

/** The names of the locks of a call: fixed ones, or a prefix and a key for each call. */
final class LockNames {

    private static final Logger LOG = LoggerFactory.getLogger(LockNames.class);

    private final String prefix;
    private final List<String> fixed;
    private final @Nullable CallExpression key;

    private LockNames(String prefix, List<String> fixed, @Nullable CallExpression key) {
        this.prefix = prefix;
        this.fixed = fixed;
        this.key = key;
    }

    static LockNames of(AnnotatedMethod where, String name, String key) {
        String text = where.text("name", name);
        String expression = where.expression("key", key);
        if (!expression.isEmpty()) {
            return new LockNames(
                    text.isEmpty() ? "" : text + "/", List.of(), new CallExpression(where, "key", expression));
        }
        if (text.isEmpty()) {
            LOG.warn(
                    "@Locked on {} has neither a name nor a key, so the lock is named after the "
                            + "method: if its class or signature changes, old and new processes don't "
                            + "exclude each other. Set a name.",
                    where.name());
        }
        String fixed = text.isEmpty() ? where.name() : text;
        try {
            new ResourceName(fixed);
        } catch (IllegalArgumentException e) {
            throw where.misuse("\"" + fixed + "\" can't be the name of a lock", e);
        }
        return new LockNames("", List.of(fixed), null);
    }

    /** A name for a check of what the store supports. */
    String sample() {
        return fixed.isEmpty() ? prefix + "key" : fixed.get(0);
    }

    /**
     * The names for a call.
     *
     * @throws IllegalArgumentException if the key of this call is invalid
     */
    List<String> of(Object target, @Nullable Object[] arguments) {
        if (key == null) {
            return fixed;
        }
        Object value = key.evaluate(target, arguments);
        if (value instanceof Collection<?> several) {
            return names(key, several);
        }
        if (value != null && value.getClass().isArray() && !(value instanceof byte[])) {
            return names(key, Arrays.asList(ObjectUtils.toObjectArray(value)));
        }
        return List.of(prefix + text(key, value));
    }

    private List<String> names(CallExpression by, Collection<?> several) {
        if (several.isEmpty()) {
            throw by.failure("is empty, so there is nothing to lock", null);
        }
        Set<String> names = new LinkedHashSet<>();
        for (Object element : several) {
            names.add(prefix + text(by, element));
        }
        return List.copyOf(names);
    }

    private static String text(CallExpression by, @Nullable Object value) {
        if (value instanceof Optional<?> optional) {
            return text(by, optional.orElse(null));
        }
        if (value == null) {
            throw by.failure("is null", null);
        }
        if (value instanceof Collection
                || value instanceof Map
                || value.getClass().isArray()) {
            throw by.failure("contains a " + value.getClass().getSimpleName() + " instead of a single key", null);
        }
        String text = value.toString();
        if (!(value instanceof CharSequence) && IdentityText.isIn(value, text)) {
            throw by.failure(
                    "is a " + value.getClass().getName() + ", whose toString() differs from object to object", null);
        }
        if (text == null || text.isBlank()) {
            throw by.failure("is blank", null);
        }
        return text;
    }
}
