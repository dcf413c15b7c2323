/**
 * The environment of the tests of the client: threads that perform given actions, time that is moved, and a link to
 * the store that can be disturbed.
 */
@NullMarked
package dev.holdfast.verification.world;

import org.jspecify.annotations.NullMarked;
