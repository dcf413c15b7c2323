/**
 * Inspection, health and forced release. {@link dev.holdfast.Holdfast} is a {@link
 * dev.holdfast.admin.LockAdmin}; one without a client comes from {@link dev.holdfast.admin.LockAdmin#of}.
 */
@NullMarked
@CheckReturnValue
package dev.holdfast.admin;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
