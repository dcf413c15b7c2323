package dev.holdfast.store.register;

import java.time.Duration;

/**
 * The record of a living session at the server.
 *
 * @param epoch its epoch
 * @param label a description of its client
 * @param ttl how long it lives without a renewal
 */
public record SessionRecord(long epoch, String label, Duration ttl) {}
