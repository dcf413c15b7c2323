package dev.holdfast.examples;

import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/** The code of the page on java.util.concurrent, compiled. */
@SuppressWarnings("unused")
final class ConcurrentExamples {

    private interface Others {
        void mayHaveBeenIn(Loss loss);
    }

    private final Others others = loss -> {};

    void views(Holdfast holdfast) {
        Lock lock = holdfast.lock("catalogue");
        ReadWriteLock both = holdfast.readWriteLock("catalogue/index");
    }

    void lost(Lock lock) {
        lock.lock();
        try {
            update();
        } finally {
            try {
                lock.unlock();
            } catch (LockLostException e) {
                others.mayHaveBeenIn(e.loss());
            }
        }
    }

    private static void update() {}
}
