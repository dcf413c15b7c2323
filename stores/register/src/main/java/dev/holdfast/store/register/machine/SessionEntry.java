package dev.holdfast.store.register.machine;

import dev.holdfast.spi.SessionId;

/**
 * A session in the record of its claims.
 *
 * @param id the session
 * @param label the label of its client
 * @param ttlMicros how long it lives without a renewal
 */
record SessionEntry(SessionId id, String label, long ttlMicros) {}
