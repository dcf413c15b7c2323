package dev.holdfast.spring.boot;

import dev.holdfast.OnDeadlock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties under {@code holdfast}.
 *
 * @param enabled Whether Holdfast is configured at all.
 * @param store URI of the lock store, such as 'redis://localhost', or 'bean:NAME' for a connection bean.
 *     By default the application's connection bean.
 * @param username User at the store, if the URI does not name one.
 * @param password Password at the store, if the URI does not have one.
 * @param label Label of this client in lists of holders. By default the application, user, host and process.
 * @param namePrefix Prefix of every name at the store, which separates applications or tenants that share one.
 * @param maxWait Maximum wait for a lock, for annotations and the LockTemplate.
 * @param onTimeout Reaction of a @Locked method when the lock was not granted within the maximum wait.
 * @param onLoss Reaction when the lock of a method or of the LockTemplate is lost.
 * @param surroundingTransaction Reaction when the caller of a @Locked method has already begun a transaction.
 * @param atMost Longest time that a @ScheduledLock method keeps its lock, unless the annotation sets one.
 * @param openAtStartup Whether the client is opened when the application starts. By default it is, if the application
 *     has a method with @Locked or @ScheduledLock.
 * @param startupPolicy Reaction when the store can't be reached at application start.
 * @param sessionTtl How long the locks of this application stay held after a crash.
 * @param keepAliveEvery Time between keep-alives of the session: at most a third of its ttl, which is the default.
 * @param storeTimeout How long the store may be silent before waiting calls fail.
 * @param cohortBudget How long threads of this application may hand over a lock among themselves while others wait.
 * @param onDeadlock Reaction when threads wait for each other's locks in a circle.
 * @param shutdownPhase Phase in which clients close: web servers, schedulers and listeners in higher phases stop
 *     earlier, connections in lower phases later.
 * @param healthTimeout How long a health check may take.
 * @param healthTasks Scheduled tasks of which the health shows that they run: for each, the longest time since its last
 *     success.
 * @param metrics Meters of the client.
 * @param ssl TLS of a store with a URI.
 * @param jdbc Store on a database.
 * @param redis Store on Redis.
 * @param etcd Store on etcd.
 * @param zookeeper Store on ZooKeeper.
 */
@ConfigurationProperties("holdfast")
record HoldfastProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String store,
        @Nullable String username,
        @Nullable String password,
        @Nullable String label,
        @DefaultValue("") String namePrefix,
        @AnnotationDuration @DefaultValue("10s") Duration maxWait,
        @DefaultValue("throw") OnTimeout onTimeout,
        @DefaultValue("interrupt") OnLoss onLoss,
        @DefaultValue("hold") InTransaction surroundingTransaction,
        @AnnotationDuration @Nullable Duration atMost,
        @Nullable Boolean openAtStartup,
        @DefaultValue("fail") StartupPolicy startupPolicy,
        @AnnotationDuration @DefaultValue("30s") Duration sessionTtl,
        @AnnotationDuration @Nullable Duration keepAliveEvery,
        @AnnotationDuration @DefaultValue("10s") Duration storeTimeout,
        @AnnotationDuration @DefaultValue("10ms") Duration cohortBudget,
        @DefaultValue("report") OnDeadlock onDeadlock,
        @DefaultValue("" + HoldfastLifecycle.DEFAULT_PHASE) int shutdownPhase,
        @AnnotationDuration @DefaultValue("2s") Duration healthTimeout,
        @DefaultValue Map<String, Duration> healthTasks,
        @DefaultValue Metrics metrics,
        @DefaultValue Ssl ssl,
        @DefaultValue Jdbc jdbc,
        @DefaultValue Redis redis,
        @DefaultValue Etcd etcd,
        @DefaultValue Zookeeper zookeeper) {

    /**
     * Meters of the client.
     *
     * @param lockNames Lock names that tag meters; all others share the value 'other'. If empty, meters have
     *     no such tag.
     */
    record Metrics(@DefaultValue List<String> lockNames) {}

    /**
     * TLS of a store with a URI.
     *
     * @param bundle Name of the SSL bundle with the trusted certificates and the client certificate.
     */
    record Ssl(@Nullable String bundle) {}

    /**
     * Store on a database.
     *
     * @param initializeSchema When the tables are created.
     * @param schema Schema of the tables; on MySQL and MariaDB, the database. By default that of the connection.
     * @param tablePrefix Prefix of the names of the tables.
     * @param listens Whether the store keeps one connection of the DataSource to receive notifications of grants.
     * @param pooler Pooler between the application and PostgreSQL, for a store with a URI.
     */
    record Jdbc(
            @Nullable SchemaMode initializeSchema,
            @Nullable String schema,
            @Nullable String tablePrefix,
            @Nullable Boolean listens,
            @Nullable Pooler pooler) {}

    /**
     * Store on Redis.
     *
     * @param namespace Prefix of the keys.
     * @param commandTimeout Time after which a command without a reply ends with an unknown outcome.
     * @param waitForReplicas How many replicas must acknowledge a grant. By default none.
     * @param replicaTimeout How long replicas may take to acknowledge a grant.
     */
    record Redis(
            @Nullable String namespace,
            @AnnotationDuration @Nullable Duration commandTimeout,
            @Nullable Integer waitForReplicas,
            @AnnotationDuration @DefaultValue("1s") Duration replicaTimeout) {}

    /**
     * Store on etcd.
     *
     * @param namespace Prefix of the keys, followed by a slash. By default that of the URI, otherwise 'holdfast'.
     * @param requestTimeout Time after which a request without a reply ends with an unknown outcome.
     */
    record Etcd(
            @Nullable String namespace,
            @AnnotationDuration @Nullable Duration requestTimeout) {}

    /**
     * Store on ZooKeeper.
     *
     * @param root Node below which the store creates its nodes. By default that of the URI, otherwise '/holdfast'.
     * @param requestTimeout Time after which a request without a reply ends with an unknown outcome.
     */
    record Zookeeper(
            @Nullable String root,
            @AnnotationDuration @Nullable Duration requestTimeout) {}

    /** The reaction if the store can't be reached when the application starts. */
    enum StartupPolicy {
        /** The application does not start. */
        FAIL,
        /** The application starts, and opens the store in the background as soon as it can be reached. */
        RETRY
    }

    /* Copies of types in holdfast-spring, which is optional. */

    /** The reaction of a locked method when others kept the lock for all of the maximum wait. */
    enum OnTimeout {
        /** Throws LockWaitTimeoutException. */
        THROW,
        /** Is not run, and returns null or an empty result. */
        SKIP
    }

    /** The reaction when a lock is lost while work runs under it. */
    enum OnLoss {
        /** The work is interrupted, and the caller gets LockLostException. */
        INTERRUPT,
        /** The work runs to its end, and the caller gets LockLostException. */
        THROW,
        /** The work runs to its end, and the caller gets its result; only an event is published. */
        EVENT
    }

    /** The reaction when the caller has begun a transaction. */
    enum InTransaction {
        /** The lock is kept until the transaction has completed. */
        HOLD,
        /** The call fails. */
        REFUSE,
        /** The lock is released at the end of the method. */
        IGNORE
    }

    /** A pooler of connections in front of a database. */
    enum Pooler {
        /** Each transaction may get another connection, as with PgBouncer's pool_mode=transaction. */
        TRANSACTION
    }

    boolean startsWithoutStore() {
        return startupPolicy == StartupPolicy.RETRY;
    }

    /**
     * Rejects properties that have no effect on a store that can't be opened later and takes no SSL bundle.
     *
     * @param kind the name of such a store
     * @param tls a remedy: where the store's TLS settings are
     * @throws IllegalArgumentException if the application is to start without the store, or names an SSL bundle
     */
    void refuseLaterAndBundle(String kind, String tls) {
        if (startsWithoutStore()) {
            throw new IllegalArgumentException("the property 'holdfast.startup-policy' is 'retry', but a store on "
                    + kind + " can't be opened after the application has started; set it to 'fail'");
        } else if (ssl.bundle() != null) {
            throw new IllegalArgumentException("the property 'holdfast.ssl.bundle' is set, but a store on " + kind
                    + " doesn't support SSL bundles; " + tls);
        }
    }

    /** When the tables of a store on a database are created. */
    enum SchemaMode {
        /** Missing tables, at each start. */
        ALWAYS,
        /** If the first of them is missing. */
        IF_MISSING,
        /** Never: migrations of the application create them. */
        NEVER
    }

    /** Omits the password. */
    @Override
    public String toString() {
        return "HoldfastProperties[enabled=" + enabled + "]";
    }
}
