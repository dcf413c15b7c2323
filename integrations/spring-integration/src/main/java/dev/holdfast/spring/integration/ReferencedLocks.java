package dev.holdfast.spring.integration;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The referenced locks, by key. Each lookup removes those without references. Thread-safe. */
final class ReferencedLocks {

    private final ConcurrentMap<String, Entry> entries = new ConcurrentHashMap<>();
    private final ReferenceQueue<RegistryLock> unreferenced = new ReferenceQueue<>();

    private static final class Entry extends WeakReference<RegistryLock> {
        private final String key;

        Entry(String key, RegistryLock lock, ReferenceQueue<RegistryLock> queue) {
            super(lock, queue);
            this.key = key;
        }
    }

    /** The lock of a key; created if none is referenced. */
    RegistryLock get(String key, Function<String, RegistryLock> make) {
        forgetUnreferenced();
        while (true) {
            Entry present = entries.get(key);
            RegistryLock known = present == null ? null : present.get();
            if (known != null) {
                return known;
            }
            RegistryLock made = make.apply(key);
            if (isSet(key, present, new Entry(key, made, unreferenced))) {
                return made;
            }
        }
    }

    private boolean isSet(String key, @Nullable Entry before, Entry now) {
        return before == null ? entries.putIfAbsent(key, now) == null : entries.replace(key, before, now);
    }

    void forgetUnreferenced() {
        for (Reference<?> gone = unreferenced.poll(); gone != null; gone = unreferenced.poll()) {
            Entry entry = (Entry) gone;
            entries.remove(entry.key, entry);
        }
    }

    int size() {
        return entries.size();
    }
}
