package dev.holdfast.spring.boot;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties under {@code holdfast}.
 *
 * @param enabled Whether Holdfast is configured at all.
 * @param store URI of the lock store, as 'redis://localhost', or 'bean:NAME' for the connection bean of that name.
 *     Found among the beans if not set.
 * @param username User at the store, if the URI does not name one.
 * @param password Password at the store, if the URI does not have one.
 * @param label Who this client is, for people who look at holders. Name of the application, user, host and process if
 *     not set.
 * @param namePrefix What stands before every name at the store, so that applications or tenants that share one never
 *     meet.
 * @param maxWait How long locks of annotations and of the LockTemplate wait for others.
 * @param onTimeout What a method with @Locked does when others kept the lock for all of that time.
 * @param onLoss What happens when the lock of a method, or of the LockTemplate, is lost.
 * @param surroundingTransaction What happens when the caller of a method with @Locked has begun a transaction.
 * @param atMost How long the lock of a method with @ScheduledLock lasts at most, where that does not say it.
 * @param openAtStartup Whether the client is opened when the application starts. If not set, it is opened if the
 *     application has a method with @Locked or @ScheduledLock.
 * @param startupPolicy What happens if the store can't be reached when the application starts.
 * @param sessionTtl How long what this application holds outlives it after a crash.
 * @param keepAliveEvery How often the session is renewed. A third of its ttl if not set, which is also the most.
 * @param storeTimeout How long the store may leave the application without any answer before waiting calls fail.
 * @param cohortBudget How long threads of the application may pass a lock on among themselves while others wait.
 * @param shutdownPhase Phase in which clients close: web servers, schedulers and listeners in higher phases stop
 *     before, connections in lower phases after.
 * @param healthTimeout How long a look at the health may take.
 * @param metrics Meters of the client.
 * @param ssl TLS of a store that is named by a URI.
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
        @DefaultValue("" + HoldfastLifecycle.DEFAULT_PHASE) int shutdownPhase,
        @AnnotationDuration @DefaultValue("2s") Duration healthTimeout,
        @DefaultValue Metrics metrics,
        @DefaultValue Ssl ssl,
        @DefaultValue Jdbc jdbc,
        @DefaultValue Redis redis,
        @DefaultValue Etcd etcd,
        @DefaultValue Zookeeper zookeeper) {

    /**
     * Meters of the client.
     *
     * @param lockNames Names of locks that meters are tagged with; all others share the value 'other'. No such tag if
     *     there are none.
     */
    record Metrics(@DefaultValue List<String> lockNames) {}

    /**
     * TLS of a store that is named by a URI.
     *
     * @param bundle Name of the SSL bundle with what to trust and what to show.
     */
    record Ssl(@Nullable String bundle) {}

    /**
     * Store on a database.
     *
     * @param initializeSchema When the tables are made.
     * @param schema Schema of the tables, on MySQL and MariaDB the database. The connection's own if not set.
     * @param tablePrefix What the names of the tables begin with.
     * @param listens Whether one connection of the DataSource is kept on which the database tells of grants.
     * @param pooler Pooler between the application and PostgreSQL, where the store is named by a URI.
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
     * @param namespace What the keys begin with.
     * @param commandTimeout After which time a command without an answer ends with an unknown outcome.
     * @param waitForReplicas How many replicas must have a grant before it counts. None if not set.
     * @param replicaTimeout How long replicas may take to have a grant.
     */
    record Redis(
            @Nullable String namespace,
            @AnnotationDuration @Nullable Duration commandTimeout,
            @Nullable Integer waitForReplicas,
            @AnnotationDuration @DefaultValue("1s") Duration replicaTimeout) {}

    /**
     * Store on etcd.
     *
     * @param namespace What the keys begin with, before a slash. What the URI says if not set, else 'holdfast'.
     * @param requestTimeout After which time a request without an answer ends with an unknown outcome.
     */
    record Etcd(
            @Nullable String namespace,
            @AnnotationDuration @Nullable Duration requestTimeout) {}

    /**
     * Store on ZooKeeper.
     *
     * @param root Node below which the store keeps its own. What the URI says if not set, else '/holdfast'.
     * @param requestTimeout After which time a request without an answer ends with an unknown outcome.
     */
    record Zookeeper(
            @Nullable String root,
            @AnnotationDuration @Nullable Duration requestTimeout) {}

    /** What happens if the store can't be reached when the application starts. */
    enum StartupPolicy {
        /** The application does not start. */
        FAIL,
        /** The application starts, and the store is tried again in the background until it is there. */
        RETRY
    }

    /* As the types of holdfast-spring, which need not be there. */

    /** What a locked method does when others kept the lock for all of the maximum wait. */
    enum OnTimeout {
        /** Throws LockWaitTimeoutException. */
        THROW,
        /** Is not run, and returns null or what stands for nothing. */
        SKIP
    }

    /** What happens when a lock is lost while work runs under it. */
    enum OnLoss {
        /** The work is interrupted, and the caller gets LockLostException. */
        INTERRUPT,
        /** The work runs to its end, and the caller gets LockLostException. */
        THROW,
        /** The work runs to its end, and the caller gets its result: there is only an event. */
        EVENT
    }

    /** What happens when the caller has begun a transaction. */
    enum InTransaction {
        /** The lock is kept until the transaction has completed. */
        HOLD,
        /** The call is refused. */
        REFUSE,
        /** The lock is released at the end of the method. */
        IGNORE
    }

    /** A pooler of connections in front of a database. */
    enum Pooler {
        /** It gives each transaction another connection, as PgBouncer with pool_mode=transaction. */
        TRANSACTION
    }

    boolean startsWithoutStore() {
        return startupPolicy == StartupPolicy.RETRY;
    }

    /**
     * Refuses what a kind of store can't do that is opened at once and takes its TLS settings elsewhere.
     *
     * @param kind what such a store is called
     * @param tls where it takes its TLS settings from
     * @throws IllegalArgumentException if the application is to start without it, or names an SSL bundle
     */
    void refuseLaterAndBundle(String kind, String tls) {
        if (startsWithoutStore()) {
            throw new IllegalArgumentException("the property 'holdfast.startup-policy' is 'retry', and a store on "
                    + kind + " can't be opened later than the application starts; set it to 'fail'");
        } else if (ssl.bundle() != null) {
            throw new IllegalArgumentException("the property 'holdfast.ssl.bundle' is set, and a store on " + kind
                    + " takes no SSL bundle; " + tls);
        }
    }

    /** When the tables of a store on a database are made. */
    enum SchemaMode {
        /** What is missing, at each start. */
        ALWAYS,
        /** If the first of them is not there. */
        IF_MISSING,
        /** Not at all: migrations of the application's make them. */
        NEVER
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "HoldfastProperties[enabled=" + enabled + "]";
    }
}
