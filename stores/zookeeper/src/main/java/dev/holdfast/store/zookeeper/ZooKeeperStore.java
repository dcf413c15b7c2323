package dev.holdfast.store.zookeeper;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.client.RegisterStore;
import dev.holdfast.store.zookeeper.adapter.ZooKeeperAdapter;
import dev.holdfast.store.zookeeper.client.HandleSource;
import dev.holdfast.store.zookeeper.client.OwnHandle;
import dev.holdfast.store.zookeeper.client.PacketBuffer;
import dev.holdfast.store.zookeeper.client.TlsSettings;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.jspecify.annotations.Nullable;

/**
 * Locks on a ZooKeeper ensemble, from 3.5 on.
 *
 * <pre>{@code
 * try (Holdfast holdfast = Holdfast.connect("zookeeper://zk1:2181,zk2:2181,zk3:2181")) { … }
 * }</pre>
 *
 * <p>What is special about it:
 *
 * <ul>
 *   <li>The data of one node are the whole state of a name. An uncontended acquire is one {@code multi}, and so is its
 *       release. Waiters have no nodes in a queue; a granted claim is notified.
 *   <li>Grants survive what the ensemble survives: the loss of a minority of its servers.
 *   <li>Sessions are ephemeral nodes. They end with the connection's session at ZooKeeper, so its time-out bounds how
 *       long they may be and says when the locks of a dead process are free.
 *   <li>A keep-alive is a write, which proves more than a ping: a follower answers that alone.
 * </ul>
 *
 * <p>One instance has one connection, or borrows that of a {@code CuratorFramework} ({@link CuratorStore}).
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class ZooKeeperStore extends ForwardingStore {

    /** With a tenth as margin this has room for a session of half a minute, which is the usual one. */
    static final Duration SESSION_TIMEOUT = Duration.ofSeconds(34);

    static final String ROOT = "/holdfast";

    private final SystemTime time;

    private ZooKeeperStore(RegisterStore store, SystemTime time) {
        super(store);
        this.time = time;
    }

    /**
     * Opens the locks of an ensemble with the default options.
     *
     * @param servers as of {@link #builder(String)}
     * @throws StoreException as of {@link Builder#open()}
     */
    public static ZooKeeperStore open(String servers) {
        return builder(servers).open();
    }

    /**
     * Begins to set up a store on an ensemble.
     *
     * @param servers {@code host:port[,host:port]…[/chroot]}, as other clients of ZooKeeper take them; the chroot is
     *     made if it is not there
     * @throws IllegalArgumentException if the chroot is no path
     */
    public static Builder builder(String servers) {
        int slash = servers.indexOf('/');
        String hosts = slash < 0 ? servers : servers.substring(0, slash);
        if (hosts.isBlank()) {
            throw new IllegalArgumentException("A ZooKeeper ensemble needs at least one server, as host:port");
        }
        return new Builder(hosts, slash < 0 ? "" : checkedChroot(servers.substring(slash)), null);
    }

    /**
     * Begins to set up the store that a URI names, for what a URI does not say.
     *
     * @throws IllegalArgumentException if it does not have the form that {@link ZooKeeperStoreProvider} describes
     */
    public static Builder builder(StoreUri uri) {
        return ZooKeeperUris.builder(uri);
    }

    private static String checkedChroot(String path) {
        if (path.equals("/")) {
            return "";
        }
        PathUtils.validatePath(path);
        return path;
    }

    /** With a handle of the program's. */
    static Builder lent(HandleSource source) {
        return new Builder("", "", source);
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller, Duration timeout) {
        return store().execute(command, caller, timeout);
    }

    @Override
    public void close() {
        super.close();
        time.close();
    }

    /** Who may read and change the nodes of the locks. */
    public enum Access {
        /** Everybody who can connect. */
        OPEN,
        /** Those who authenticate as who made the nodes; needs {@link Builder#digest} or another scheme. */
        CREATOR
    }

    /** Sets up a store on an ensemble. Each option has a default. */
    public static final class Builder {

        /**
         * The largest record, which every client must be able to read: so that a write has room for more than the
         * record even if its packet is no larger than usual.
         */
        private static final int MAX_RECORD = PacketBuffer.DEFAULT / 4;

        private final String servers;
        private final String chroot;
        private final @Nullable HandleSource lent;
        private final List<OwnHandle.Credentials> credentials = new ArrayList<>();
        private final ZKClientConfig config = new ZKClientConfig();
        private String root = ROOT;
        private Duration sessionTimeout = SESSION_TIMEOUT;
        private Duration connectTimeout = Duration.ofSeconds(10);
        private Duration requestTimeout = Duration.ofSeconds(10);
        private Optional<Duration> tickTime = Optional.empty();
        private Access access = Access.OPEN;
        private boolean isConfigured;

        private Builder(String servers, String chroot, @Nullable HandleSource lent) {
            this.servers = servers;
            this.chroot = chroot;
            this.lent = lent;
        }

        /**
         * The node below which the store keeps its own, below the chroot; {@code /holdfast} by default. It is made, and
         * its parents, if it is not there.
         *
         * @throws IllegalArgumentException if it is no path, or the root of all
         */
        @CanIgnoreReturnValue
        public Builder root(String path) {
            PathUtils.validatePath(path);
            if (path.equals("/")) {
                throw new IllegalArgumentException("The root of the locks must be a separate node, not '/'");
            }
            this.root = path;
            return this;
        }

        /**
         * After which time the servers give up a client of which they hear nothing; 34 s by default. It bounds the
         * ttl of sessions, which is less by two {@linkplain #tickTime ticks}, and the locks of a process that has died
         * are free after it. The servers grant 40 s at most by default ({@code maxSessionTimeout}).
         *
         * @throws IllegalArgumentException if it is below 100 ms or beyond a day
         */
        @CanIgnoreReturnValue
        public Builder sessionTimeout(Duration timeout) {
            this.sessionTimeout = checked("The session time-out", timeout, Duration.ofDays(1));
            this.isConfigured = true;
            return this;
        }

        /**
         * The {@code tickTime} of the servers, or the longest of them. By default it is 2 s, as theirs is; must be set
         * if it is longer. The leader may learn of a keep-alive half a tick late, so a session lasts longer than its
         * ttl.
         *
         * @throws IllegalArgumentException if it is below a millisecond or beyond a minute
         */
        @CanIgnoreReturnValue
        public Builder tickTime(Duration tick) {
            if (tick.compareTo(Duration.ofMillis(1)) < 0 || tick.compareTo(Duration.ofMinutes(1)) > 0) {
                throw new IllegalArgumentException("A tick must be 1 ms to 1 min, not " + DurationFormat.format(tick));
            }
            this.tickTime = Optional.of(tick);
            return this;
        }

        /**
         * How long {@link #open()} waits for a connection; ten seconds by default.
         *
         * @throws IllegalArgumentException if it is below 100 ms or beyond an hour
         */
        @CanIgnoreReturnValue
        public Builder connectTimeout(Duration timeout) {
            this.connectTimeout = checked("The connect time-out", timeout, Duration.ofHours(1));
            return this;
        }

        /**
         * After which time a request that is not answered ends with an unknown outcome; ten seconds by default.
         *
         * @throws IllegalArgumentException if it is below 100 ms or beyond an hour
         */
        @CanIgnoreReturnValue
        public Builder requestTimeout(Duration timeout) {
            this.requestTimeout = checked("The request time-out", timeout, Duration.ofHours(1));
            return this;
        }

        /** Authenticates with a user and a password. */
        @CanIgnoreReturnValue
        public Builder digest(String user, String password) {
            return authenticate("digest", (user + ":" + password).getBytes(StandardCharsets.UTF_8));
        }

        /** Authenticates by another scheme that the servers know. */
        @CanIgnoreReturnValue
        public Builder authenticate(String scheme, byte[] secret) {
            credentials.add(new OwnHandle.Credentials(scheme, secret.clone()));
            this.isConfigured = true;
            return this;
        }

        /**
         * Speaks TLS with the servers, and trusts the authorities that the JVM trusts unless {@link #trust} or a
         * property says otherwise. The name of the host is checked always.
         */
        @CanIgnoreReturnValue
        public Builder tls() {
            TlsSettings.require(config);
            this.isConfigured = true;
            return this;
        }

        /**
         * Speaks TLS with servers whose certificates are of these authorities.
         *
         * @param authorities a file with their certificates in PEM form
         * @throws IllegalArgumentException if there is no such file
         */
        @CanIgnoreReturnValue
        public Builder trust(Path authorities) {
            TlsSettings.trust(config, authorities);
            this.isConfigured = true;
            return this;
        }

        /**
         * Speaks TLS, and shows a certificate to the servers, which they demand unless they are set up otherwise.
         *
         * @param certificateAndKey a file with both in PEM form, the key as PKCS #8 without a password
         * @throws IllegalArgumentException if there is no such file
         */
        @CanIgnoreReturnValue
        public Builder clientCertificate(Path certificateAndKey) {
            TlsSettings.present(config, certificateAndKey);
            this.isConfigured = true;
            return this;
        }

        /** Who may do what with the nodes that this store makes; everybody by default, as the ensemble lets in. */
        @CanIgnoreReturnValue
        public Builder access(Access allowed) {
            this.access = allowed;
            return this;
        }

        /** Sets a property of ZooKeeper's client, such as {@code zookeeper.sasl.client}, for this store alone. */
        @CanIgnoreReturnValue
        public Builder property(String name, String value) {
            config.setProperty(name, value);
            this.isConfigured = true;
            return this;
        }

        /**
         * Connects, and makes the nodes that the store needs and that are not there.
         *
         * <p><b>Blocking:</b> for the time-out of the connection and two requests, at most.
         *
         * @throws IllegalArgumentException if the files for TLS are of no use, or the {@code jute.maxbuffer} of the
         *     client is below its default; nothing was touched
         * @throws IllegalStateException if an option is set that is that of a lent client, or libraries for TLS are
         *     missing; nothing was touched
         * @throws StoreException if no server can be reached, the credentials are refused, a permission is missing, or
         *     the root is something else
         */
        public ZooKeeperStore open() {
            SystemTime time = new SystemTime("holdfast-zookeeper-store");
            try {
                ZooKeeperAdapter adapter =
                        ZooKeeperAdapter.open(source(), adapterOptions(), time::monotonicNanos, time::wallMillis);
                return new ZooKeeperStore(RegisterStore.over(adapter, time), time);
            } catch (RuntimeException e) {
                time.close();
                throw e;
            }
        }

        private HandleSource source() {
            HandleSource given = lent;
            if (given == null) {
                return new OwnHandle(servers, sessionTimeout, credentials, config);
            }
            if (isConfigured) {
                throw new IllegalStateException(
                        "Set the session time-out, the credentials and the properties on the client that you lend");
            }
            return given;
        }

        private ZooKeeperAdapter.Options adapterOptions() {
            return new ZooKeeperAdapter.Options(
                    chroot + root,
                    List.of(new ACL(
                            ZooDefs.Perms.ALL, access == Access.OPEN ? new Id("world", "anyone") : new Id("auth", ""))),
                    connectTimeout,
                    requestTimeout,
                    tickTime,
                    MAX_RECORD);
        }

        private static Duration checked(String what, Duration timeout, Duration most) {
            if (timeout.compareTo(Duration.ofMillis(100)) < 0 || timeout.compareTo(most) > 0) {
                throw new IllegalArgumentException(what + " must be 100 ms to " + DurationFormat.format(most) + ", not "
                        + DurationFormat.format(timeout));
            }
            return timeout;
        }
    }
}
