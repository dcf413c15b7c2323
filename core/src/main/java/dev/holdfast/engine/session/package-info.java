/** The session at the store and what hangs on it: keep-alives, claims in flight, their settlement, and the audit. */
@NullMarked
package dev.holdfast.engine.session;

import org.jspecify.annotations.NullMarked;
