package dev.holdfast.store.register;

import java.time.Duration;

/**
 * What the server records about a session that lives.
 *
 * @param epoch its epoch
 * @param label who the client says it is
 * @param ttl how long it lives without a renewal
 */
public record SessionRecord(long epoch, String label, Duration ttl) {}
