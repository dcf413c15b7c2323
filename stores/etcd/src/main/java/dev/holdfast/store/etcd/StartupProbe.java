package dev.holdfast.store.etcd;

import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.Stages;
import dev.holdfast.store.etcd.rpc.EtcdClient;
import dev.holdfast.store.etcd.rpc.Failures;
import dev.holdfast.store.etcd.rpc.LeaseAnswer;
import dev.holdfast.store.etcd.rpc.Transaction;
import dev.holdfast.store.etcd.rpc.Transaction.Branch;
import dev.holdfast.store.register.RegisterTraits;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Asks a server before its first use what it is, what its shortest lease is, and whether the namespace is ours. */
final class StartupProbe {

    private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\..*");
    private static final int OLDEST_MAJOR = 3;
    private static final int OLDEST_MINOR = 4;

    /** A hundred years; etcd would make longer leases, but nobody may ask for them. */
    private static final Duration LONGEST = Duration.ofDays(36_525);

    private static final Duration SECOND = Duration.ofSeconds(1);

    /** A request may have 1.5 MB; this leaves room for what else is in it. */
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
     * Asks.
     *
     * <p><b>Blocking:</b> for the time-out of the client at most, for each of two requests, after that for the first.
     *
     * @param patience how long to wait for the first answer, of each endpoint
     * @throws StoreException if the server can't be used
     */
    static RegisterTraits run(EtcdClient client, KeyLayout keys, Duration patience) {
        StartupProbe probe = new StartupProbe(client, keys);
        String version = probe.version(patience, client.endpoints());
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
                LARGEST_STATE,
                MOST_CHANGES);
    }

    /**
     * Of the first member that answers; empty if it does not tell this user. Late releases of 3.5 tell administrators
     * alone.
     */
    private String version(Duration patience, int attempts) {
        try {
            return answer(client.version(patience));
        } catch (StoreException e) {
            if (Failures.isForbidden(e)) {
                return "";
            }
            if (attempts == 1 || e.reason() != Reason.UNAVAILABLE) {
                throw e;
            }
            return version(patience, attempts - 1); // by another endpoint, since this one is suspected
        }
    }

    private void checkVersion(String version) {
        Matcher parts = VERSION.matcher(version);
        if (parts.matches()) {
            int major = Integer.parseInt(parts.group(1));
            int minor = Integer.parseInt(parts.group(2));
            if (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR)) {
                throw new StoreException(
                        Reason.DENIED,
                        Effect.NONE,
                        client.name() + " is of version " + version + "; locks need 3.4 at least",
                        null);
            }
        }
    }

    /** The server lengthens a lease that is too short, and tells. */
    private Duration shortestLease() {
        LeaseAnswer lease = answer(client.grant(1));
        try {
            SessionId nobody = KeyLayout.sessionOf(lease.id());
            byte[] key = keys.probe(nobody);
            var unused = answer(client.run(
                    new Transaction().put(key, new byte[0], lease.id()).get(Branch.THEN, keys.session(nobody))));
        } finally {
            var unused = client.revoke(lease.id());
        }
        return Duration.ofSeconds(lease.seconds());
    }

    /** Every call has an end, so an interrupt need not end the wait. */
    private static <T> T answer(CompletionStage<T> asked) {
        try {
            return asked.toCompletableFuture().join();
        } catch (CompletionException e) {
            throw Stages.causeOf(e) instanceof StoreException known ? known : e;
        }
    }
}
