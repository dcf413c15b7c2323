/**
 * Real servers for tests and demonstrations, each a process of its own that is brought by a library and needs nothing
 * installed, and a network between that can be spoiled. Linux, x86-64 and 64-bit ARM.
 */
@NullMarked
package dev.holdfast.servers;

import org.jspecify.annotations.NullMarked;
