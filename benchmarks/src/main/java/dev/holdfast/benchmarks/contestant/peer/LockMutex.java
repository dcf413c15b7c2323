package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import java.util.concurrent.locks.Lock;

/** A lock of the JDK's type, without tokens. */
record LockMutex(Lock lock) implements Contestant.Mutex {

    @Override
    public long acquire() throws InterruptedException {
        lock.lockInterruptibly();
        return NO_TOKEN;
    }

    @Override
    public void release() {
        lock.unlock();
    }
}
