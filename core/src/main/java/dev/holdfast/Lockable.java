package dev.holdfast;

/**
 * A possible part of a {@link MultiLock}: a {@link DistributedLock} of any kind, or permits of a semaphore.
 *
 * <p>Only objects created by a {@link Holdfast} client can be parts of its multi-locks. Do not implement this
 * interface.
 */
public interface Lockable {

    /** The name of the resource. */
    String name();
}
