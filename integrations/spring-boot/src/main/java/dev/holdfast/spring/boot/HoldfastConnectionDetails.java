package dev.holdfast.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * The address of the lock store as a bean: for containers of tests and other addresses that are known only at run time.
 * It replaces the properties {@code holdfast.store}, {@code holdfast.username} and {@code holdfast.password}.
 *
 * <pre>
 * &#64;Bean
 * HoldfastConnectionDetails lockStore(GenericContainer&lt;?&gt; etcd) {
 *     return () -&gt; "etcd://" + etcd.getHost() + ":" + etcd.getMappedPort(2379);
 * }
 * </pre>
 *
 * <p>Services of Docker Compose with images of etcd and ZooKeeper get such a bean automatically, if the module of the
 * store is on the class path.
 */
@FunctionalInterface
// Only implementations need Spring Boot's type.
@SuppressWarnings("exports")
public interface HoldfastConnectionDetails extends ConnectionDetails {

    /** The URI of the store, such as {@code etcd://localhost:2379}. */
    String getUri();

    /** The user at the store; null if there is none, or the URI names one. */
    default @Nullable String getUsername() {
        return null;
    }

    /** The password at the store; null if there is none, or the URI has one. */
    default @Nullable String getPassword() {
        return null;
    }
}
