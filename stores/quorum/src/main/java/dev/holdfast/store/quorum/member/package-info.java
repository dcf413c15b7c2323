/** The members of a quorum: how they are opened, asked, and what time they are asked by. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.quorum.member;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
