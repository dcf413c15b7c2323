package dev.holdfast.engine.local;

/** Whether an owner has its resource alone, or shares the grant with others: readers, and those who wait at a latch. */
public enum Sharing {
    SHARED,
    EXCLUSIVE
}
