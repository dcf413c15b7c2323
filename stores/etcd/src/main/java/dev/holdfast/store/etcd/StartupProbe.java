package dev.holdfast.store.etcd;

import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.Stages;
import dev.holdfast.store.etcd.rpc.EtcdClient;
import dev.holdfast.store.etcd.rpc.EtcdFailures;
import dev.holdfast.store.etcd.rpc.LeaseResponse;
import dev.holdfast.store.etcd.rpc.Transaction;
import dev.holdfast.store.etcd.rpc.Transaction.Branch;
import dev.holdfast.store.register.RegisterTraits;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Queries a server before its first use: its version, its shortest lease, and access to the namespace. */
final class StartupProbe {

    private static final Logger LOG = LoggerFactory.getLogger(StartupProbe.class);

    private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+).*");
    private static final int OLDEST_MAJOR = 3;
    private static final int OLDEST_MINOR = 4;

    /** For each minor version of 3, the first release whose old leaders end no leases that their successors renewed. */
    private static final Map<Integer, Integer> SAFE_RELEASES = Map.of(4, 31, 5, 13);

    /** A hundred years; etcd would make longer leases, but a request may not ask for them. */
    private static final Duration LONGEST = Duration.ofDays(36_525);

    private static final Duration SECOND = Duration.ofSeconds(1);

    /** A request may have 1.5 MB; this leaves room for the rest of it. */
    private static final int LARGEST_STATE = 1024 * 1024;

    /** A transaction may have 128 operations. */
    private static final int MOST_CHANGES = 120;

    private final EtcdClient client;
    private final KeyLayout keys;

    private StartupProbe(EtcdClient client, KeyLayout keys) {
        this.client = client;
        this.keys = keys;
    }

    /**
     * Runs the probe.
     *
     * <p><b>Blocking:</b> for at most the time for the first answer, and then the time-out of the client for each of
     * two requests.
     *
     * @param timeout how long to wait for the first answer, of each endpoint
     * @throws StoreException if the server can't be used
     */
    static RegisterTraits run(EtcdClient client, KeyLayout keys, Duration timeout) {
        StartupProbe probe = new StartupProbe(client, keys);
        String version = probe.version(timeout, client.endpointCount());
        probe.checkVersion(version);
        return new RegisterTraits(
                version.isEmpty() ? "etcd" : "etcd " + version,
                "etcd",
                RegisterTraits.Clock.REVISIONS,
                probe.shortestLease(),
                LONGEST,
                SECOND,
                true,
                true,
                false,
                LARGEST_STATE,
                MOST_CHANGES);
    }

    /**
     * The version of the first member that answers; empty if this user may not see it, as in late releases of 3.5,
     * which report it only to administrators.
     */
    private String version(Duration timeout, int attempts) {
        try {
            return answer(client.version(timeout));
        } catch (StoreException e) {
            if (EtcdFailures.isForbidden(e)) {
                return "";
            }
            if (attempts == 1 && EtcdFailures.isClosedWithoutAnswer(e)) {
                throw new StoreException(
                        Reason.UNAVAILABLE,
                        Effect.NONE,
                        client.name()
                                + " closed the connection before it answered. Use 'etcds:' for a "
                                + "server with TLS, and 'etcd:' for one without",
                        e);
            }
            if (attempts == 1 || e.reason() != Reason.UNAVAILABLE) {
                throw e;
            }
            return version(timeout, attempts - 1); // at another endpoint, because this one is suspected
        }
    }

    private void checkVersion(String version) {
        if (isTooOld(version)) {
            throw new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    client.name() + " has version " + version + "; Holdfast needs 3.4 or newer",
                    null);
        } else if (endsRenewedLeases(version)) {
            LOG.warn(
                    "store={} has version {}: after a pause, a former leader may end sessions that "
                            + "its successor has renewed, so two clients may briefly hold the same lock. "
                            + "Upgrade to 3.4.31, 3.5.13 or newer, or check fencing tokens where you write",
                    client.name(),
                    version);
        }
    }

    private static boolean isTooOld(String version) {
        Matcher parts = VERSION.matcher(version);
        return parts.matches()
                && (number(parts, 1) < OLDEST_MAJOR
                        || (number(parts, 1) == OLDEST_MAJOR && number(parts, 2) < OLDEST_MINOR));
    }

    /** Whether it has etcd's issue 15247. */
    static boolean endsRenewedLeases(String version) {
        Matcher parts = VERSION.matcher(version);
        return parts.matches()
                && number(parts, 1) == OLDEST_MAJOR
                && number(parts, 3) < SAFE_RELEASES.getOrDefault(number(parts, 2), 0);
    }

    private static int number(Matcher parts, int group) {
        return Integer.parseInt(parts.group(group));
    }

    /** Requests a lease that is too short: the server lengthens it, and returns its length. */
    private Duration shortestLease() {
        LeaseResponse lease = answer(client.grant(1));
        try {
            SessionId unusedSession = KeyLayout.sessionOf(lease.id());
            byte[] key = keys.probe(unusedSession);
            var unused = answer(client.run(
                    new Transaction().put(key, new byte[0], lease.id()).get(Branch.THEN, keys.session(unusedSession))));
        } finally {
            var unused = client.revoke(lease.id());
        }
        return Duration.ofSeconds(lease.seconds());
    }

    /** Waits without reacting to interrupts, because each call has a time-out. */
    private static <T> T answer(CompletionStage<T> asked) {
        try {
            return asked.toCompletableFuture().join();
        } catch (CompletionException e) {
            throw Stages.causeOf(e) instanceof StoreException known ? known : e;
        }
    }
}
