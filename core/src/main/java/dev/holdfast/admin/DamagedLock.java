package dev.holdfast.admin;

/**
 * A name whose record in the store is damaged: its holders and waiters are unknown, and no request for it is granted.
 * Nothing is overwritten. <i>docs/operations.md</i> in the manual says what to do.
 *
 * @param name the lock, semaphore, latch or election, as far as its name can be read
 * @param reason what is wrong with the record
 */
public record DamagedLock(String name, String reason) {}
