package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.engine.client.ClientOptions;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.observe.AcquisitionObserver;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.verification.world.World;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A client may hold a million locks, so each object and field that a held lock has counts. */
@DisplayName("A held lock")
class HeldLockSizeTest {

    /** As measured. A change that makes a held lock larger must be worth it. */
    private static final int MAX_BYTES = 480;

    // The layout of a 64-bit JVM with compressed references.
    private static final int HEADER = 12;
    private static final int REFERENCE = 4;
    private static final int ALIGNMENT = 8;
    private static final int LOCK_STATE = 32;

    @AutoClose
    private final World world = World.still();

    private final Engine engine = Engine.start(
            world::link,
            "memory",
            false,
            new ClientOptions(
                    Duration.ofSeconds(30),
                    Duration.ofSeconds(10),
                    Duration.ofMillis(10),
                    Duration.ofSeconds(10),
                    "alice"),
            Optional.of(world.time()));

    @Test
    @DisplayName("takes no more heap than it did, without what all locks of a client share")
    void heap() throws Exception {
        Hold other =
                engine.primitives().lock(new ResourceName("other"), Order.FAIR).acquire();
        Hold hold =
                engine.primitives().lock(new ResourceName("ledger"), Order.FAIR).acquire();

        Set<Object> objects = reachable((LocalHold) hold);
        objects.removeAll(reachable((LocalHold) other));
        Map<String, Integer> bytes = new TreeMap<>();
        for (Object object : objects) {
            bytes.merge(object.getClass().getSimpleName(), sizeOf(object), Integer::sum);
        }

        int sum = bytes.values().stream().mapToInt(Integer::intValue).sum();
        assertThat(sum).as("%s", bytes).isLessThanOrEqualTo(MAX_BYTES);
        hold.close();
        other.close();
        engine.close();
    }

    /** The objects of a lock, and some that it shares with others. */
    private static Set<Object> reachable(Object start) throws IllegalAccessException {
        Set<Object> found = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Object> pending = new ArrayDeque<>();
        pending.add(start);
        while (!pending.isEmpty()) {
            Object object = pending.remove();
            if (!isShared(object) && found.add(object)) {
                for (Class<?> type = object.getClass(); isOurs(type); type = type.getSuperclass()) {
                    for (Field field : type.getDeclaredFields()) {
                        if (!Modifier.isStatic(field.getModifiers())
                                && !field.getType().isPrimitive()) {
                            field.setAccessible(true);
                            Object value = field.get(object);
                            if (value != null) {
                                pending.add(value);
                            }
                        }
                    }
                }
            }
        }
        return found;
    }

    private static boolean isOurs(Class<?> type) {
        return type != null && type.getName().startsWith("dev.holdfast.");
    }

    private static boolean isShared(Object object) {
        return object instanceof Partition
                || object instanceof Session
                || object instanceof Map
                || object instanceof Thread
                || object instanceof AcquisitionObserver // there while the JVM records its flight
                || object instanceof Enum;
    }

    private static int sizeOf(Object object) {
        int size = HEADER;
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    size += sizeOf(field.getType());
                }
            }
        }
        int aligned = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        return object instanceof ReentrantLock ? aligned + LOCK_STATE : aligned;
    }

    private static int sizeOf(Class<?> type) {
        if (!type.isPrimitive()) {
            return REFERENCE;
        }
        if (type == long.class || type == double.class) {
            return Long.BYTES;
        }
        return type == int.class || type == float.class ? Integer.BYTES : type == boolean.class ? 1 : Short.BYTES;
    }
}
