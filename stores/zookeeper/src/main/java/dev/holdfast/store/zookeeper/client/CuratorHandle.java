package dev.holdfast.store.zookeeper.client;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.CuratorEventType;
import org.apache.curator.framework.api.CuratorListener;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * The handle of a program's {@code CuratorFramework}, which replaces it when its session has expired. Curator's
 * retries, its namespace and its decision when a session is lost don't apply.
 */
public final class CuratorHandle implements HandleSource {

    private final CuratorFramework curator;
    private final CuratorListener events = this::changed;
    private final ConnectionStateListener connections = this::changed;
    private volatile @Nullable Listener listener;
    private volatile int packetBuffer;

    // Guarded by this: the last session that was connected; 0 before the first.
    private long session;

    /** Borrows the handle of a started client. */
    public CuratorHandle(CuratorFramework curator) {
        this.curator = curator;
    }

    @Override
    public void start(Listener listener, Duration connectTimeout) {
        try {
            if (!curator.blockUntilConnected(
                    Math.toIntExact(Math.min(connectTimeout.toMillis(), Integer.MAX_VALUE)), TimeUnit.MILLISECONDS)) {
                throw new StoreException(
                        Reason.UNAVAILABLE,
                        Effect.NONE,
                        "the CuratorFramework was not connected within " + DurationFormat.format(connectTimeout),
                        null);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(Reason.UNAVAILABLE, Effect.NONE, "interrupted while connecting", e);
        }
        packetBuffer = PacketBuffer.of(handle().getClientConfig());
        this.listener = listener;
        synchronized (this) {
            session = handle().getSessionId();
        }
        curator.getCuratorListenable().addListener(events);
        listener.negotiated(sessionTimeout());
        curator.getConnectionStateListenable().addListener(connections);
    }

    private void changed(CuratorFramework client, CuratorEvent event) {
        if (event.getType() != CuratorEventType.WATCHED
                || event.getWatchedEvent().getType() != EventType.None) {
            return;
        }
        KeeperState state = event.getWatchedEvent().getState();
        Listener present = listener;
        if (state == KeeperState.Expired) {
            expired(0);
        } else if (state == KeeperState.SyncConnected && present != null) {
            present.negotiated(sessionTimeout());
        }
    }

    private void changed(CuratorFramework client, ConnectionState state) {
        Listener present = listener;
        if (state.isConnected() && present != null) {
            expired(handle().getSessionId());
            present.connected();
        }
    }

    /** Reports the end of each session once, whichever event comes first. */
    private void expired(long next) {
        boolean isNews;
        synchronized (this) {
            isNews = session != 0 && session != next;
            session = next;
        }
        Listener present = listener;
        if (isNews && present != null) {
            present.expired();
        }
    }

    @Override
    @SuppressWarnings("CheckedExceptionNotThrown") // Curator's signature
    public ZooKeeper handle() {
        try {
            return curator.getZookeeperClient().getZooKeeper();
        } catch (Exception e) {
            throw new StoreException(
                    Reason.UNAVAILABLE, Effect.NONE, "the CuratorFramework has no handle: " + e.getMessage(), e);
        }
    }

    @Override
    public void maintain(long now) {
        // The program does that.
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
        return true;
    }

    @Override
    public void close() {
        listener = null;
        curator.getCuratorListenable().removeListener(events);
        curator.getConnectionStateListenable().removeListener(connections);
    }
}
