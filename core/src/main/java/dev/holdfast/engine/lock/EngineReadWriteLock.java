package dev.holdfast.engine.lock;

import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.engine.local.Acquirer;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.local.Mode;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;

/** Both sides of one read-write lock. Immutable. */
public final class EngineReadWriteLock implements DistributedReadWriteLock {

    private final ResourceName name;
    private final DistributedLock readLock;
    private final DistributedLock writeLock;

    public EngineReadWriteLock(LocalResources resources, ResourceName name, ResourceSpec spec) {
        this.name = name;
        this.readLock = new EngineLock(new Acquirer(resources, name, Mode.owned(spec, 1)));
        this.writeLock = new EngineLock(new Acquirer(resources, name, Mode.owned(spec, spec.capacity())));
    }

    @Override
    public String name() {
        return name.value();
    }

    @Override
    public DistributedLock readLock() {
        return readLock;
    }

    @Override
    public DistributedLock writeLock() {
        return writeLock;
    }

    @Override
    public String toString() {
        return "DistributedReadWriteLock[" + name + "]";
    }
}
