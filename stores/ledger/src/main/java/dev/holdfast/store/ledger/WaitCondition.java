package dev.holdfast.store.ledger;

import java.util.Set;

/**
 * What a claim waits for. Its state stays the same while nothing is written, the processes behind these store instances
 * are alive, and {@code until} is in the future.
 *
 * @param isHead whether it is first in the queue
 * @param ttl of its session, in microseconds
 * @param clients the store instances of the holders that block it, and of the queue's head
 * @param until when the first of these leases expires, including its own session's
 */
public record WaitCondition(boolean isHead, long ttl, Set<Long> clients, long until) {}
