package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.zookeeper.client.Requests;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.zookeeper.Op;

/**
 * Removes the nodes of sessions that have ended, and keeps at it until they are gone: the handle lives on, so ZooKeeper
 * would keep them.
 *
 * <p><b>Thread-safety:</b> safe.
 */
final class SessionRemovals {

    /** Above so many sessions their names may not fit into one answer, so nothing is looked for. */
    private static final int MOST_LISTED = 5_000;

    private final NodeLayout layout;
    private final Requests requests;

    /** Sessions whose nodes may be there still. */
    private final Set<SessionId> pending = ConcurrentHashMap.newKeySet();

    SessionRemovals(NodeLayout layout, Requests requests) {
        this.layout = layout;
        this.requests = requests;
    }

    boolean isPending(SessionId id) {
        return pending.contains(id);
    }

    boolean isEmpty() {
        return pending.isEmpty();
    }

    /** Removes a session now, or as soon as there is a connection. The future is that of the first attempt. */
    CompletableFuture<Void> add(SessionId id) {
        pending.add(id);
        CompletableFuture<Void> removed = remove(id);
        Requests.ignoreOutcome(removed); // tried again with the next connection, and by the timer
        return removed;
    }

    /** Tries again what did not succeed. */
    void retry() {
        Set.copyOf(pending).forEach(id -> Requests.ignoreOutcome(remove(id)));
    }

    /** Ends a session for all: done when its node is gone. What hung on it goes after that. */
    CompletableFuture<Void> remove(SessionId id) {
        List<Op> both = List.of(Op.delete(layout.session(id), -1), Op.delete(layout.beat(id), -1));
        return requests.multi(both)
                .thenCompose(done -> done.isPresent()
                        ? CompletableFuture.completedFuture(true)
                        : requests.delete(layout.session(id))
                                .thenCombine(requests.delete(layout.beat(id)), (s, b) -> s))
                .thenAccept(done -> {
                    pending.remove(id);
                    Requests.ignoreOutcome(removeRest(id)); // left for who opens a session later
                });
    }

    private CompletableFuture<Boolean> removeRest(SessionId id) {
        return removeTree(layout.index(id)).thenCombine(removeTree(layout.mailbox(id)), (index, mail) -> index && mail);
    }

    private CompletableFuture<Boolean> removeTree(String path) {
        return requests.children(path, null).thenCompose(names -> {
            Stream<CompletableFuture<Boolean>> children =
                    names.orElse(List.of()).stream().map(name -> requests.delete(path + '/' + name));
            return CompletableFuture.allOf(children.toArray(CompletableFuture[]::new))
                    .thenCompose(all -> requests.delete(path));
        });
    }

    /** Removes what sessions left behind whose process died. */
    CompletableFuture<Boolean> clearLeftovers() {
        return requests.get(layout.indexes(), null).thenCompose(node -> {
            int size = node.map(found -> found.stat().getNumChildren()).orElse(0);
            return size == 0 || size > MOST_LISTED ? CompletableFuture.completedFuture(false) : clear();
        });
    }

    /** Who opens a session makes all of its nodes at once, so one that is listed first and not alive then has ended. */
    private CompletableFuture<Boolean> clear() {
        CompletableFuture<Optional<List<String>>> indexes = requests.children(layout.indexes(), null);
        CompletableFuture<Optional<List<String>>> alive = requests.children(layout.sessions(), null);
        return indexes.thenCombine(alive, (all, living) -> {
            Set<String> dead = new HashSet<>(all.orElse(List.of()));
            living.orElse(List.of()).forEach(dead::remove);
            dead.stream()
                    .map(SessionId::new)
                    .filter(NodeLayout::isSession)
                    .forEach(id -> Requests.ignoreOutcome(removeRest(id)));
            return true;
        });
    }
}
