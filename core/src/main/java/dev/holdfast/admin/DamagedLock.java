package dev.holdfast.admin;

/**
 * A name whose record in the store is damaged: its holders and waiters are unknown, and no request for it is granted.
 * Nothing is overwritten; what to do is in the manual, in <i>docs/operations.md</i>.
 *
 * @param name the lock, semaphore, latch or election, as far as its name can be read
 * @param reason what is wrong with the record
 */
public record DamagedLock(String name, String reason) {}
