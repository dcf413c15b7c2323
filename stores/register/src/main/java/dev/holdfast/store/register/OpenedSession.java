package dev.holdfast.store.register;

import dev.holdfast.spi.SessionId;
import java.time.Duration;

/**
 * A session that was opened, or a lease.
 *
 * @param id never used before
 * @param ttl how long the server keeps it without a renewal; at least what was asked for
 */
public record OpenedSession(SessionId id, Duration ttl) {}
