/** Tests over all modules. */
@NullMarked
package dev.holdfast.verification;

import org.jspecify.annotations.NullMarked;
