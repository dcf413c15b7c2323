package dev.holdfast.engine.local;

import dev.holdfast.NotOwnerException;
import dev.holdfast.spi.ResourceName;
import org.jspecify.annotations.Nullable;

/**
 * A hold as its owner counts it: who that is, and how often it was acquired and not released. The counts belong to the
 * owner thread alone; a hold that owns itself is acquired once.
 */
abstract class OwnedHold implements HoldHandle {

    /** The thread that owns it; null for a hold that owns itself. */
    final @Nullable Thread owner;

    private int depth = 1;

    /** How many of them are for the whole capacity of a read-write lock. */
    private int writeDepth;

    /**
     * Begins with the first acquisition.
     *
     * @param isWrite whether that is for the whole capacity of a read-write lock
     */
    OwnedHold(@Nullable Thread owner, boolean isWrite) {
        this.owner = owner;
        this.writeDepth = isWrite ? 1 : 0;
    }

    /** Its key in maps of holds: the owner, or the hold itself. */
    Object key() {
        return owner == null ? this : owner;
    }

    /**
     * Checks that the calling thread may release it.
     *
     * @throws NotOwnerException if it belongs to another
     */
    public void requireOwner() {
        if (owner != null && owner != Thread.currentThread()) {
            throw new NotOwnerException(
                    name(),
                    "The hold on '" + shownName() + "' belongs to the thread '" + owner.getName()
                            + "' and can't be released by '"
                            + Thread.currentThread().getName()
                            + "'. Use acquireAsync for holds that move between threads.");
        }
    }

    /** Whether it was acquired more often than released. */
    public boolean isEntered() {
        return depth > 0;
    }

    /** How often it was acquired for the whole capacity of a read-write lock, and not released. */
    public int writeDepth() {
        return writeDepth;
    }

    /** How often it was acquired otherwise, and not released. */
    public int shareDepth() {
        return depth - writeDepth;
    }

    /**
     * Counts one more acquisition.
     *
     * @throws IllegalStateException if there are too many to count
     */
    public void enterAgain(boolean isWrite) {
        if (depth == Integer.MAX_VALUE) {
            throw new IllegalStateException("Lock '" + shownName() + "' was acquired too many times by this thread");
        }
        depth++;
        if (isWrite) {
            writeDepth++;
        }
    }

    /**
     * Counts the end of an acquisition.
     *
     * @return whether it was the last one for writing, and others are left
     * @throws NotOwnerException if none is left
     */
    boolean exit(boolean isWrite) {
        if (depth <= 0 || (isWrite && writeDepth <= 0)) {
            throw new NotOwnerException(name(), "The hold on '" + shownName() + "' was already released");
        }
        depth--;
        return isWrite && --writeDepth == 0 && depth > 0;
    }

    private String shownName() {
        return ResourceName.printable(name());
    }
}
