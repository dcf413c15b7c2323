package dev.holdfast.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Holdfast;
import dev.holdfast.test.HoldfastExtension;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(HoldfastExtension.class)
@DisplayName("The locks that are referred to")
class ReferencedLocksTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ReferencedLocks locks = new ReferencedLocks();

    private RegistryLock get(Holdfast holdfast, String key) {
        return locks.get(key, name -> new RegistryLock(name, holdfast.lock(name)));
    }

    /** Returns when a collection has taken what nobody refers to. */
    private static void collect() {
        WeakReference<Object> witness = new WeakReference<>(new Object());
        await().atMost(PATIENCE).until(() -> {
            System.gc();
            return witness.get() == null;
        });
    }

    @Test
    @DisplayName("stay the same, whatever the collector does")
    void stay(Holdfast holdfast) {
        RegistryLock lock = get(holdfast, "order");
        collect();
        locks.forgetUnreferenced();
        assertThat(get(holdfast, "order")).isSameAs(lock);
    }

    @Test
    @DisplayName("are all that is remembered")
    void forget(Holdfast holdfast) {
        RegistryLock kept = get(holdfast, "kept");
        List<Integer> made = IntStream.range(0, 1000)
                .map(i -> System.identityHashCode(get(holdfast, "order/" + i)))
                .boxed()
                .toList();
        assertThat(made).hasSize(1000);
        await().atMost(PATIENCE).until(() -> {
            collect();
            locks.forgetUnreferenced();
            return locks.size() == 1;
        });
        assertThat(get(holdfast, "kept")).isSameAs(kept);
    }
}
