/** The store on registers: a client of a server behind an adapter. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.register.client;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
