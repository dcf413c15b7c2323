/**
 * For tests of code that uses locks: {@link dev.holdfast.test.TestStore} is a store in memory on virtual time, with
 * faults on demand, {@link dev.holdfast.test.HoldfastExtension} gives each test of JUnit one of its own, and {@link
 * dev.holdfast.test.LockOrder} finds locks that are acquired in different orders.
 */
@NullMarked
@CheckReturnValue
package dev.holdfast.test;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
