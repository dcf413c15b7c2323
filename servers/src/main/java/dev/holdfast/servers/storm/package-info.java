/** Lets servers and client processes fail one after another, and verifies the locks by a witness. */
@NullMarked
package dev.holdfast.servers.storm;

import org.jspecify.annotations.NullMarked;
