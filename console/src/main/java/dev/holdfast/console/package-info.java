/**
 * The console: what a page or a terminal shows of a store. {@link dev.holdfast.console.LockConsole} answers requests;
 * {@link dev.holdfast.console.server.ConsoleServer} serves the page to one person on this machine.
 */
@NullMarked
@CheckReturnValue
package dev.holdfast.console;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
