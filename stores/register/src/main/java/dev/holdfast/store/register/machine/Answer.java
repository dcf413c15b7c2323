package dev.holdfast.store.register.machine;

import dev.holdfast.spi.Reply;

/** A reply whose tokens are relative to the base of the record, which is known when the record is written. */
@FunctionalInterface
public interface Answer {

    /** The reply, on this base. */
    Reply on(long base);

    /** A reply without tokens. */
    static Answer of(Reply reply) {
        return base -> reply;
    }
}
