/** Elections for the beans of an application: a campaign that starts and stops with it, and events. */
@NullMarked
@CheckReturnValue
package dev.holdfast.spring.leader;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
