/**
 * Locks around methods of Spring beans: start at {@link dev.holdfast.spring.EnableHoldfast} and {@link
 * dev.holdfast.spring.Locked}; {@link dev.holdfast.spring.LockTemplate} does the same without annotations.
 */
@NullMarked
@CheckReturnValue
package dev.holdfast.spring;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
