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
 * Watches on the nodes of sessions, one for each: the client sets them again when it has another connection, and is
 * told then what changed meanwhile.
 *
 * <p><b>Thread-safety:</b> safe.
 */
final class SessionWatches {

    private final NodeLayout layout;
    private final Requests requests;
    private final Consumer<SessionId> gone;

    /** One for all nodes, so that the client keeps one of each. */
    private final Watcher watcher = this::changed;

    /** Whose nodes are watched or to be watched. Those that could not be are armed again. */
    private final Set<SessionId> own = ConcurrentHashMap.newKeySet();

    private final Set<SessionId> foreign = ConcurrentHashMap.newKeySet();
    private final Set<SessionId> unarmed = ConcurrentHashMap.newKeySet();

    /** Tells of each session once that it is gone. */
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

    /** Tells that a session has ended, unless that was told. */
    void ended(SessionId id) {
        boolean wasOwn = own.remove(id);
        boolean wasForeign = foreign.remove(id);
        unarmed.remove(id);
        if (wasOwn || wasForeign) {
            gone.accept(id);
        }
    }

    /** The watches of the handle before are gone with it. */
    void handleReplaced() {
        unarmed.addAll(own);
        unarmed.addAll(foreign);
    }

    /** Watches whom it could not watch: without a connection, or since no answer came in time. */
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
