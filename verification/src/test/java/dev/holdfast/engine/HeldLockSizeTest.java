package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.local.LocalSynchronizer;
import dev.holdfast.engine.lock.EngineLock;
import dev.holdfast.engine.observe.AcquisitionObserver;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.World;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A client may hold a million locks, so each object and field that a held lock or a waiter has counts. */
@DisplayName("The heap of")
class HeldLockSizeTest {

    /** As measured. A change that makes a held lock larger must be worth it. */
    private static final int HELD_BYTES = 360;

    /** As measured: the request, its place in the queue and its terms. */
    private static final int WAITING_BYTES = 176;

    // The layout of a 64-bit JVM with compressed references.
    private static final int HEADER = 12;
    private static final int REFERENCE = 4;
    private static final int ALIGNMENT = 8;

    @AutoClose
    private final World world = World.still();

    private final Engine engine = EngineUnderTest.start(world, world.link());

    private EngineLock lock(String name) {
        return (EngineLock) engine.primitives().lock(new ResourceName(name), Order.FAIR);
    }

    @Test
    @DisplayName("a held lock does not grow, without what all locks of a client share")
    void held() throws Exception {
        Hold other = lock("other").acquire();
        Hold hold = lock("ledger").acquire();

        Set<Object> objects = reachable(hold);
        objects.removeAll(reachable(other));

        assertThat(bytesOf(objects)).as("%s", sizesOf(objects)).isEqualTo(HELD_BYTES);
        hold.close();
        other.close();
        engine.close();
    }

    @Test
    @DisplayName("a thread that waits does not grow, without the thread")
    void waiting() throws Exception {
        EngineLock lock = lock("ledger");
        Hold hold = lock.acquire();
        LocalSynchronizer resource = (LocalSynchronizer) ((LocalHold) hold).issuer();
        Thread first = waiter(lock, resource, 1);
        Set<Object> before = reachable(resource);

        Thread second = waiter(lock, resource, 2);

        Set<Object> objects = reachable(resource);
        objects.removeAll(before);
        assertThat(bytesOf(objects)).as("%s", sizesOf(objects)).isEqualTo(WAITING_BYTES);
        hold.close();
        first.join();
        second.join();
        engine.close();
    }

    /** A thread that waits for the lock as the last of some. */
    private Thread waiter(EngineLock lock, LocalSynchronizer resource, int count) {
        Thread thread = new Thread(() -> {
            try {
                lock.acquire(Duration.ofHours(1)).close();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.start();
        Eventually.holds(count + " wait", () -> resource.waiting() == count);
        return thread;
    }

    private static List<String> sizesOf(Set<Object> objects) {
        return objects.stream()
                .map(object -> object.getClass().getSimpleName() + " " + sizeOf(object))
                .sorted()
                .toList();
    }

    private static int bytesOf(Set<Object> objects) {
        return objects.stream().mapToInt(HeldLockSizeTest::sizeOf).sum();
    }

    /** The objects of a lock or a resource, and some that it shares with others. */
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
                || object instanceof ClientContext
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
        return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
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
