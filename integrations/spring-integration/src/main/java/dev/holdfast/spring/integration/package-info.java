/** A lock registry and a leader initiator of Spring Integration on Holdfast. */
@NullMarked
@CheckReturnValue
package dev.holdfast.spring.integration;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
