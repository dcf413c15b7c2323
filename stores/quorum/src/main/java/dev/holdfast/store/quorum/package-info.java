/** One store that is made of several independent stores, of which a majority decides. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.quorum;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
