/** Several locks and permits that are taken together. */
@NullMarked
package dev.holdfast.engine.multi;

import org.jspecify.annotations.NullMarked;
