package dev.holdfast;

/**
 * What can be taken together with others, all or nothing, by a {@link MultiLock}: a {@link DistributedLock}, whatever
 * it locks, or some permits of a semaphore.
 *
 * <p>Only what a {@link Holdfast} client has handed out can be a part of a multi-lock of that client; there is nothing
 * to implement here.
 */
public interface Lockable {

    /** The name of the resource. */
    String name();
}
