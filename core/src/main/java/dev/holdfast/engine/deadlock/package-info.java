/** The search for cycles of threads that wait for each other. */
@NullMarked
package dev.holdfast.engine.deadlock;

import org.jspecify.annotations.NullMarked;
