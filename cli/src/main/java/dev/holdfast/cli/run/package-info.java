/**
 * {@code holdfast run}: its options, the wait for the lock, and the command under it until its last process has ended.
 */
@NullMarked
@CheckReturnValue
package dev.holdfast.cli.run;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
