/** The local tier: the queue and the grants of each resource that this process uses. */
@NullMarked
package dev.holdfast.engine.local;

import org.jspecify.annotations.NullMarked;
