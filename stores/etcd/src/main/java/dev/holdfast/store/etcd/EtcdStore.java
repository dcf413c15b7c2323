package dev.holdfast.store.etcd;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.store.etcd.rpc.Channels;
import dev.holdfast.store.etcd.rpc.EtcdClient;
import dev.holdfast.store.etcd.rpc.Login;
import dev.holdfast.store.etcd.rpc.Range;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.client.RegisterStore;
import io.grpc.ManagedChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Locks on an etcd cluster, from 3.4 on.
 *
 * <pre>{@code
 * try (Holdfast holdfast = Holdfast.connect("etcd://etcd-1:2379,etcd-2:2379,etcd-3:2379/shop")) { … }
 * }</pre>
 *
 * <p>Its special properties:
 *
 * <ul>
 *   <li>An acquire without contention is one transaction, and so is its release, after which etcd keeps nothing of the
 *   name. A watch notifies a waiter of its grant.
 *   <li>A session is an etcd lease. Its ttl is in whole seconds, at least two. Expiry follows the servers' monotonic
 *   clocks.
 *   <li>Acknowledged writes survive the loss of a minority of the servers.
 *   <li>Fencing tokens follow etcd's revisions: they start again when a cluster is rebuilt or restored.
 * </ul>
 *
 * <p>One instance has a connection to one endpoint at a time, a thread for it, and a timer thread. It sends no request
 * twice except the end of a session.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class EtcdStore extends ForwardingStore {

    private EtcdStore(RegisterStore store) {
        super(store);
    }

    /**
     * Begins to set up a store on a cluster.
     *
     * @param endpoints some of its members, each as {@code host:port}, or {@code [address]:port} for an address of IPv6
     * @throws IllegalArgumentException if there are none, or one is not of the form
     */
    public static Builder builder(String... endpoints) {
        return new Builder(Endpoints.read(List.of(endpoints)), null);
    }

    /**
     * Begins to set up a store on a channel of the program, which the store never closes. It must not have a retry or
     * hedging policy, and should use one member at a time, as by default ({@code pick_first}).
     */
    public static Builder builder(ManagedChannel channel) {
        return new Builder(List.of(), channel);
    }

    /**
     * Begins to set up a store on the cluster that a URI names, in the form of {@link EtcdStoreProvider}, for settings
     * that a URI lacks.
     *
     * @throws IllegalArgumentException if the URI is not of that form; nothing was opened
     */
    public static Builder builder(StoreUri uri) {
        if (!new EtcdStoreProvider().schemes().contains(uri.scheme())) {
            throw new IllegalArgumentException("The URI '" + uri + "' is not an etcd URI");
        }
        return EtcdUris.builder(uri);
    }

    /** Sets up a store on a cluster. Each option has a default. */
    public static final class Builder {

        static final String DEFAULT_NAMESPACE = "holdfast";

        private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9_.:/-]{1,64}");
        private static final Duration SHORTEST = Duration.ofMillis(10);
        private static final Duration LONGEST = Duration.ofHours(1);

        private final List<Channels.Endpoint> endpoints;
        private final @Nullable ManagedChannel channel;
        private String namespace = DEFAULT_NAMESPACE;
        private Duration requestTimeout = Duration.ofSeconds(5);
        private Duration connectTimeout = Duration.ofSeconds(10);
        private Duration returnEvery = Duration.ofMinutes(1);
        private Tls tls = Tls.OFF;
        private @Nullable String user;
        private Supplier<char[]> password = () -> new char[0];

        private Builder(List<Channels.Endpoint> endpoints, @Nullable ManagedChannel channel) {
            this.endpoints = endpoints;
            this.channel = channel;
        }

        /**
         * The prefix of the keys of the store, before a slash, so that several stores may share a cluster.
         *
         * @param namespace 1 to 64 letters, digits and {@code _ . : / -}; {@code holdfast} by default
         * @throws IllegalArgumentException if it is not of that form
         */
        @CanIgnoreReturnValue
        public Builder namespace(String namespace) {
            if (!NAMESPACE.matcher(namespace).matches()) {
                throw new IllegalArgumentException(
                        "A namespace must be 1 to 64 letters, digits and _ . : / -, not '" + namespace + "'");
            }
            this.namespace = namespace;
            return this;
        }

        /**
         * The time after which an unanswered request fails with an unknown outcome; five seconds by default. It should
         * be longer than an election of a leader.
         *
         * @throws IllegalArgumentException if it is below 10 ms or beyond an hour
         */
        @CanIgnoreReturnValue
        public Builder requestTimeout(Duration timeout) {
            this.requestTimeout = checked("The request time-out", timeout);
            return this;
        }

        /**
         * The time in which it must connect to a member; ten seconds by default. It has no effect on a channel of the
         * program.
         *
         * @throws IllegalArgumentException if it is below 10 ms or beyond an hour
         */
        @CanIgnoreReturnValue
        public Builder connectTimeout(Duration timeout) {
            this.connectTimeout = checked("The connect time-out", timeout);
            return this;
        }

        /** Uses TLS with the authorities that the JVM trusts. */
        @CanIgnoreReturnValue
        public Builder tls() {
            this.tls = tls.on();
            return this;
        }

        /**
         * Uses TLS and trusts only these authorities.
         *
         * @param authorities a file of certificates in PEM form
         */
        @CanIgnoreReturnValue
        public Builder trust(Path authorities) {
            this.tls = tls.trusting(authorities);
            return this;
        }

        /**
         * Uses TLS with a client certificate.
         *
         * @param certificate a file in PEM form, including the certificates of intermediate authorities
         * @param key its key, a file in PEM form (PKCS #8) without a password
         */
        @CanIgnoreReturnValue
        public Builder clientCertificate(Path certificate, Path key) {
            this.tls = tls.showing(certificate, key);
            return this;
        }

        /**
         * Authenticates as a user.
         *
         * @param password supplies the password for each new token, on a thread that may block
         */
        @CanIgnoreReturnValue
        public Builder user(String name, Supplier<char[]> password) {
            this.user = name;
            this.password = password;
            return this;
        }

        /**
         * Connects.
         *
         * <p><b>Blocking:</b> for at most the connect time-out for each unreachable endpoint, and then for two
         * requests.
         *
         * @throws IllegalArgumentException if a file for TLS can't be read
         * @throws StoreException if no endpoint can be reached, or the cluster does not accept the user, lacks a
         *     permission or is too old
         */
        public EtcdStore open() {
            return new EtcdStore(RegisterStore.over(adapter()));
        }

        /** The pause before this client tries a member again that it has left. */
        @CanIgnoreReturnValue
        Builder returnEvery(Duration pause) {
            this.returnEvery = pause;
            return this;
        }

        /** Opens the adapter of the store. */
        EtcdAdapter adapter() {
            StoreThreads threads = new StoreThreads();
            EtcdClient client = null;
            try {
                client = new EtcdClient(channels(threads), login(threads), requestTimeout);
                KeyLayout keys = new KeyLayout(namespace);
                RegisterTraits traits = StartupProbe.run(client, keys, longer(connectTimeout, requestTimeout));
                FirstMember.keepTo(client, threads, Range.of(keys.turn()), returnEvery);
                return new EtcdAdapter(client, keys, traits, threads);
            } catch (RuntimeException | Error e) {
                if (client != null) {
                    client.close();
                }
                threads.close();
                throw e;
            }
        }

        private Channels channels(StoreThreads threads) {
            ManagedChannel lent = channel;
            return lent == null
                    ? Channels.to(endpoints, tls.context(), connectTimeout, threads.lookups(), Randomness.nextLong())
                    : Channels.lent(lent);
        }

        private Login login(StoreThreads threads) {
            String name = user;
            return name == null ? Login.anonymous() : Login.of(name, password, threads.lookups());
        }

        private static Duration longer(Duration one, Duration other) {
            return one.compareTo(other) > 0 ? one : other;
        }

        private static Duration checked(String what, Duration timeout) {
            if (timeout.compareTo(SHORTEST) < 0 || timeout.compareTo(LONGEST) > 0) {
                throw new IllegalArgumentException(
                        what + " must be 10 ms to 1 h, not " + DurationFormat.format(timeout));
            }
            return timeout;
        }
    }
}
