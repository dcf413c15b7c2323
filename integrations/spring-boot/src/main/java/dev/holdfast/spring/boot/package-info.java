/**
 * Auto-configuration for Spring Boot: a {@link dev.holdfast.spi.LockStore} by properties or on the application's own
 * connections, and a {@link dev.holdfast.Holdfast} on it, each unless the application defines its own.
 */
@NullMarked
@CheckReturnValue
package dev.holdfast.spring.boot;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
