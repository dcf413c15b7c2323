/**
 * One leader at a time among the candidates of an election. Start at {@link
 * dev.holdfast.Holdfast#election}.
 */
@NullMarked
@CheckReturnValue
package dev.holdfast.election;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
