/** The rules of the architecture, and the proof that each of them can fail. */
@NullMarked
package dev.holdfast.verification.architecture;

import org.jspecify.annotations.NullMarked;
