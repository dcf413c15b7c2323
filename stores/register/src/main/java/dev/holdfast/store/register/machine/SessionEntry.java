package dev.holdfast.store.register.machine;

import dev.holdfast.spi.SessionId;

/**
 * A session as the records name it whose claims they hold.
 *
 * @param id the session
 * @param label who its client says it is
 * @param ttlMicros how long it lives without a renewal
 */
record SessionEntry(SessionId id, String label, long ttlMicros) {}
