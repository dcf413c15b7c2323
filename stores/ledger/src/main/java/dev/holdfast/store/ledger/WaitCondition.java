package dev.holdfast.store.ledger;

import java.util.Set;

/**
 * What a claim waits for. Nothing changes for it while nothing is written, the processes behind these store instances
 * are there, and it is before a time.
 *
 * @param isHead whether it is the next
 * @param ttl of its session, in microseconds
 * @param clients the store instances of those who are in its way, and of its head
 * @param until when the first lease among these is over, its own session's included
 */
public record WaitCondition(boolean isHead, long ttl, Set<Long> clients, long until) {}
