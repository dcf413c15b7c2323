/**
 * Real servers for tests and demonstrations, each a separate process that comes with a library and needs nothing
 * installed, and a network between that can be spoiled. Only etcd, and the browser, come from Debian's packages. Linux,
 * x86-64 and 64-bit ARM; MariaDB on x86-64 alone.
 *
 * <p>PostgreSQL comes in the version set in the build, such as {@code -Dpostgres.binaries.version=16.15.0}.
 * Databases that run already are used where a JDBC URL is given: {@code -Dholdfast.postgres=jdbc:postgresql://…} and
 * {@code -Dholdfast.mariadb=jdbc:mariadb://…}, or the same in the environment as {@code HOLDFAST_POSTGRES} and {@code
 * HOLDFAST_MARIADB}. What has to stop and start its server starts one all the same.
 */
@NullMarked
package dev.holdfast.servers;

import org.jspecify.annotations.NullMarked;
