package dev.holdfast.store.quorum.member;

import dev.holdfast.spi.LockStore;

/** The store of a member, with a name for messages. */
public record NamedStore(String name, LockStore store) {}
