/** What the client promises, through its public API, against the store in memory. */
@NullMarked
package dev.holdfast.verification.client;

import org.jspecify.annotations.NullMarked;
