/** What tests of several modules do with databases and with clients of them. */
@NullMarked
package dev.holdfast.servers.sql;

import org.jspecify.annotations.NullMarked;
