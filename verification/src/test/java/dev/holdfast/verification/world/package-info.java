/**
 * The stage of the tests of the client: threads that do what they are told, time that is moved, and a line to the store
 * that can be disturbed.
 */
@NullMarked
package dev.holdfast.verification.world;

import org.jspecify.annotations.NullMarked;
