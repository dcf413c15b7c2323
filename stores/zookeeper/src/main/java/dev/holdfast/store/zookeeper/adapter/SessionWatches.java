package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.zookeeper.client.Requests;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;

/**
 * Watches on the nodes of sessions, one for each. ZooKeeper's client sets them again after a reconnect, and reports the
 * changes since.
 *
 * <p><b>Thread-safety:</b> safe.
 */
final class SessionWatches {

    private final NodeLayout layout;
    private final Requests requests;
    private final Consumer<SessionId> gone;

    /** One watcher for all nodes, so that the client keeps one watch of each. */
    private final Watcher watcher = this::changed;

    /** The sessions whose nodes are to be watched. Failed watches are set again. */
    private final Set<SessionId> own = ConcurrentHashMap.newKeySet();

    private final Set<SessionId> foreign = ConcurrentHashMap.newKeySet();
    private final Set<SessionId> unarmed = ConcurrentHashMap.newKeySet();

    /** @param gone receives each ended session once */
    SessionWatches(NodeLayout layout, Requests requests, Consumer<SessionId> gone) {
        this.layout = layout;
        this.requests = requests;
        this.gone = gone;
    }

    void addOwn(SessionId id) {
        own.add(id);
        arm(id);
    }

    void replaceForeign(Set<SessionId> ids) {
        Set<SessionId> added = new HashSet<>(ids);
        added.removeAll(foreign);
        foreign.retainAll(ids);
        foreign.addAll(added);
        added.forEach(this::arm);
    }

    /** Reports the end of a session, once. */
    void ended(SessionId id) {
        boolean wasOwn = own.remove(id);
        boolean wasForeign = foreign.remove(id);
        unarmed.remove(id);
        if (wasOwn || wasForeign) {
            gone.accept(id);
        }
    }

    /** Notes that the watches have ended with the old handle. */
    void handleReplaced() {
        unarmed.addAll(own);
        unarmed.addAll(foreign);
    }

    /** Sets the watches that failed: without a connection, or because no answer came in time. */
    void retry() {
        for (SessionId id : Set.copyOf(unarmed)) {
            if (unarmed.remove(id) && isWanted(id)) {
                arm(id);
            }
        }
    }

    private boolean isWanted(SessionId id) {
        return own.contains(id) || foreign.contains(id);
    }

    private void arm(SessionId id) {
        if (!NodeLayout.isSession(id)) {
            ended(id);
            return;
        }
        Requests.ignoreOutcome(requests.get(layout.session(id), watcher).whenComplete((node, failure) -> {
            if (failure != null) {
                unarmed.add(id);
            } else if (node.isEmpty()) {
                ended(id);
            }
        }));
    }

    private void changed(WatchedEvent event) {
        if (event.getType() == EventType.None || event.getPath() == null) {
            return;
        }
        String path = event.getPath();
        SessionId id = new SessionId(path.substring(path.lastIndexOf('/') + 1));
        if (event.getType() == EventType.NodeDeleted) {
            ended(id);
        } else if (isWanted(id)) {
            arm(id);
        }
    }
}
