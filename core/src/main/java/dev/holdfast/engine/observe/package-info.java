/** Reports acquisitions, sessions and commands to listeners, and acquisitions to the flight recorder. */
@NullMarked
package dev.holdfast.engine.observe;

import org.jspecify.annotations.NullMarked;
