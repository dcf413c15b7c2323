/** Elections: campaigns, terms of leaders, and observers. */
@NullMarked
package dev.holdfast.engine.election;

import org.jspecify.annotations.NullMarked;
