/**
 * For tests of Spring applications that use locks: {@link dev.holdfast.spring.test.EmbeddedHoldfast} replaces the lock
 * store by one in memory, on virtual time, with faults on demand.
 */
@NullMarked
@CheckReturnValue
package dev.holdfast.spring.test;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
