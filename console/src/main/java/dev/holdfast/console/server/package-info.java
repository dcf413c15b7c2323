/** Serves the console with the HTTP server of the JDK: one-time keys, cookies, limits and checks of each request. */
@NullMarked
@CheckReturnValue
package dev.holdfast.console.server;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
