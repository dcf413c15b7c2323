/**
 * Helpers for authors of stores: batches, tokens that follow a clock, listeners, openings with a limit, URIs; and for
 * integrations, interrupts at a loss that nest. No part of the contract: a store may do without any of them.
 */
@NullMarked
package dev.holdfast.spi.support;

import org.jspecify.annotations.NullMarked;
