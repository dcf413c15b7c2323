package dev.holdfast.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * Where the lock store is, as a bean: for containers of tests and other places that are known only at run time. It
 * replaces the properties {@code holdfast.store}, {@code holdfast.username} and {@code holdfast.password}.
 *
 * <pre>
 * &#64;Bean
 * HoldfastConnectionDetails lockStore(GenericContainer&lt;?&gt; etcd) {
 *     return () -&gt; "etcd://" + etcd.getHost() + ":" + etcd.getMappedPort(2379);
 * }
 * </pre>
 *
 * <p>Services of Docker Compose with images of etcd and ZooKeeper have one by themselves, where the module of the store
 * is on the class path.
 */
@FunctionalInterface
// Spring Boot's type is for those who implement this.
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
