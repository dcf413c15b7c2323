package dev.holdfast.store.quorum.member;

import dev.holdfast.spi.LockStore;

/** The store of a member, with its name for people. */
public record NamedStore(String name, LockStore store) {}
