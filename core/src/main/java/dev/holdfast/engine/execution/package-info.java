/** Where code runs: reactions to the store, timers, callbacks of users, and waits that an interrupt does not end. */
@NullMarked
package dev.holdfast.engine.execution;

import org.jspecify.annotations.NullMarked;
