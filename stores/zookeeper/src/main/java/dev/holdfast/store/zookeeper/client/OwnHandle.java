package dev.holdfast.store.zookeeper.client;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.ZooKeeper.States;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A handle that the store creates, and replaces when its session has expired. */
public final class OwnHandle implements HandleSource {

    private static final Logger LOG = LoggerFactory.getLogger(OwnHandle.class);

    private static final int CLOSE_TIMEOUT_MILLIS = 10_000;

    /** How long to wait for the first connection before diagnosing what prevents it. */
    private static final Duration DIAGNOSE_AFTER = Duration.ofSeconds(1);

    /**
     * Credentials for an authentication scheme of ZooKeeper.
     *
     * @param scheme such as {@code digest}
     * @param secret such as {@code user:password}
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Credentials(String scheme, byte[] secret) {
        @Override
        public String toString() {
            return scheme + " credentials";
        }
    }

    /** A handle that can be closed without ending its session, which {@link ZooKeeper#close()} does. */
    @SuppressWarnings("try") // that close may be interrupted
    private final class Handle extends WaitingHandle {
        Handle() throws IOException {
            super(servers, Math.toIntExact(requestedTimeout.toMillis()), OwnHandle.this::changed, config);
            credentials.forEach(each -> addAuthInfo(each.scheme(), each.secret()));
        }

        void closeKeepingSession() {
            getTestable().injectSessionExpiration();
            try {
                if (!testableWaitForShutdown(CLOSE_TIMEOUT_MILLIS)) {
                    LOG.warn("the threads of a ZooKeeper client did not end within {} ms", CLOSE_TIMEOUT_MILLIS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private final String servers;
    private final Duration requestedTimeout;
    private final List<Credentials> credentials;
    private final ZKClientConfig config;
    private final CompletableFuture<Boolean> firstConnection = new CompletableFuture<>();
    private volatile Listener listener = new Listener() {
        @Override
        public void negotiated(Duration timeout) {}

        @Override
        public void connected() {}

        @Override
        public void expired() {}
    };
    private volatile @Nullable Handle handle;
    private volatile int packetBuffer;

    // Guarded by this.
    private boolean closed;
    private boolean isBroken; // the last attempt to replace the handle failed
    private @Nullable Long connected; // when the handle was last seen connected

    /**
     * Creates a handle source, which connects when it is started.
     *
     * @param servers a connect string without a chroot
     * @param sessionTimeout the requested time-out; the servers may grant less
     */
    public OwnHandle(String servers, Duration sessionTimeout, List<Credentials> credentials, ZKClientConfig config) {
        this.servers = servers;
        this.requestedTimeout = sessionTimeout;
        this.credentials = List.copyOf(credentials);
        this.config = config;
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if the files for TLS are invalid, or the client's packets too small; nothing was
     *     sent
     * @throws IllegalStateException if libraries for TLS are missing; nothing was sent
     */
    @Override
    public void start(Listener listener, Duration connectTimeout) {
        packetBuffer = PacketBuffer.of(config);
        Optional<SSLContext> tls = TlsSettings.prepare(config);
        this.listener = listener;
        replace();
        Duration quarter = connectTimeout.dividedBy(4);
        Duration first = quarter.compareTo(DIAGNOSE_AFTER) < 0 ? quarter : DIAGNOSE_AFTER;
        if (isConnectedWithin(first)) {
            return;
        }
        diagnose(new TlsDiagnosis(servers, tls, config, quarter));
        if (!isConnectedWithin(connectTimeout.minus(first))) {
            throw unavailable(
                    "no server of '" + servers + "' answered within " + DurationFormat.format(connectTimeout), null);
        }
    }

    /** Runs on another thread, so that the caller can wait for the connection meanwhile. */
    private void diagnose(TlsDiagnosis diagnosis) {
        Thread thread = new Thread(
                () -> diagnosis.find().ifPresent(firstConnection::completeExceptionally),
                "holdfast-zookeeper-tls-diagnosis");
        thread.setDaemon(true);
        thread.start();
    }

    private boolean isConnectedWithin(Duration time) {
        try {
            return firstConnection.get(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof StoreException failure
                    ? failure
                    : unavailable("ZooKeeper can't be reached", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unavailable("interrupted while connecting to '" + servers + "'", e);
        }
    }

    private static StoreException unavailable(String text, @Nullable Throwable cause) {
        return new StoreException(Reason.UNAVAILABLE, Effect.NONE, text, cause);
    }

    private synchronized void replace() {
        if (closed) {
            return;
        }
        try {
            handle = new Handle();
        } catch (IOException e) {
            throw unavailable("a client for '" + servers + "' can't be created", e);
        }
    }

    private void changed(WatchedEvent event) {
        if (event.getType() != EventType.None) {
            return;
        }
        switch (event.getState()) {
            case SyncConnected -> {
                listener.negotiated(negotiated());
                firstConnection.complete(true);
                listener.connected();
            }
            case AuthFailed ->
                firstConnection.completeExceptionally(new StoreException(
                        Reason.DENIED, Effect.NONE, "ZooKeeper rejects the credentials of this client", null));
            case Expired -> {
                if (!isClosed()) {
                    listener.expired();
                    tryToReplace();
                }
            }
            default -> {} // the state of the handle makes requests fail
        }
    }

    private synchronized void tryToReplace() {
        try {
            replace();
            isBroken = false;
        } catch (RuntimeException e) {
            isBroken = true;
            LOG.warn(
                    "a ZooKeeper client for '{}' can't be created; the attempt is repeated: {}", servers, e.toString());
        }
    }

    @Override
    public synchronized void maintain(long now) {
        Handle present = handle;
        if (closed || present == null) {
            return;
        }
        if (isBroken) {
            tryToReplace();
        } else if (connected == null || present.getState() != States.CONNECTING) {
            connected = now;
        } else if (now - connected > sessionTimeout().toNanos()) {
            LOG.warn("no server of '{}' accepts the session of this client; a new session is started", servers);
            connected = now;
            present.getTestable().injectSessionExpiration(); // the event thread reports the end
        }
    }

    /** Waits until the handle is assigned: its connection may be reported before that. */
    private synchronized Duration negotiated() {
        return sessionTimeout();
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public ZooKeeper handle() {
        ZooKeeper present = handle;
        if (present == null) {
            throw new IllegalStateException("Not started");
        }
        return present;
    }

    @Override
    public Duration sessionTimeout() {
        return Duration.ofMillis(handle().getSessionTimeout());
    }

    @Override
    public int packetBuffer() {
        return packetBuffer;
    }

    @Override
    public boolean isLent() {
        return false;
    }

    @Override
    public void close() {
        Handle last;
        synchronized (this) {
            closed = true;
            last = handle;
        }
        if (last != null) {
            last.closeKeepingSession();
        }
    }
}
