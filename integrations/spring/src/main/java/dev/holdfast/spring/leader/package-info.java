/** Elections for the beans of an application: a campaign that begins and ends with it, and events. */
@NullMarked
@CheckReturnValue
package dev.holdfast.spring.leader;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
