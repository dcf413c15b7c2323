package dev.holdfast.store.register;

import dev.holdfast.spi.ClaimRef;

/**
 * A claim in the index of its session.
 *
 * @param claim the claim
 * @param isHeld whether it holds; otherwise it waits
 */
public record IndexEntry(ClaimRef claim, boolean isHeld) {}
