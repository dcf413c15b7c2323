package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.zookeeper.client.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.zookeeper.Op;

/**
 * Removes the nodes of ended sessions, with retries. ZooKeeper would keep them, because the handle lives on.
 *
 * <p><b>Thread-safety:</b> safe.
 */
final class SessionRemovals {

    /** How many nodes one write removes: with the longest paths, a third of a packet. */
    private static final int BATCH = 200;

    private final NodeLayout layout;
    private final Requests requests;

    /** Sessions whose nodes may still exist. */
    private final Set<SessionId> pending = ConcurrentHashMap.newKeySet();

    /** The removals of helper nodes that are in progress. */
    private final Map<SessionId, CompletableFuture<Boolean>> pendingRequests = new ConcurrentHashMap<>();

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
        Requests.ignoreOutcome(removed); // repeated with the next connection, and by the timer
        return removed;
    }

    /** Repeats the removals that failed. */
    void retry() {
        Set.copyOf(pending).forEach(id -> Requests.ignoreOutcome(remove(id)));
    }

    /** Ends a session for all clients; completes when its node is deleted. Its helper nodes are removed after that. */
    CompletableFuture<Void> remove(SessionId id) {
        List<Op> both = List.of(Op.delete(layout.session(id), -1), Op.delete(layout.beat(id), -1));
        return requests.multi(both)
                .thenCompose(done -> done.isPresent()
                        ? CompletableFuture.completedFuture(true)
                        : requests.delete(layout.session(id))
                                .thenCombine(requests.delete(layout.beat(id)), (s, b) -> s))
                .thenAccept(done -> {
                    pending.remove(id);
                    CompletableFuture<Boolean> rest = removeRest(id); // a later turn to clean up removes the rest
                    pendingRequests.put(id, rest);
                    Requests.ignoreOutcome(rest.whenComplete((all, failure) -> pendingRequests.remove(id)));
                });
    }

    /** Waits until no removal is in progress, or for this time. */
    void await(Duration most) {
        try {
            CompletableFuture.allOf(pendingRequests.values().toArray(CompletableFuture[]::new))
                    .get(most.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            // A later turn to clean up removes the rest.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Removes the helper nodes of an ended session: in most cases only those that were created with it. */
    private CompletableFuture<Boolean> removeRest(SessionId id) {
        List<String> nodes = new ArrayList<>(layout.helperNodes(id));
        Collections.reverse(nodes);
        return requests.multi(nodes.stream().map(path -> Op.delete(path, -1)).toList())
                .thenCompose(done -> done.isPresent()
                        ? CompletableFuture.completedFuture(true)
                        : eachInTurn(nodes, this::removeWithChildren));
    }

    private CompletableFuture<Boolean> removeWithChildren(String path) {
        return requests.children(path, null).thenCompose(names -> {
            List<String> children = names.orElse(List.of()).stream()
                    .map(name -> path + '/' + name)
                    .toList();
            return eachInTurn(batches(children), this::removeAll).thenCompose(done -> requests.delete(path));
        });
    }

    private static List<List<String>> batches(List<String> paths) {
        List<List<String>> batches = new ArrayList<>();
        for (int from = 0; from < paths.size(); from += BATCH) {
            batches.add(paths.subList(from, Math.min(from + BATCH, paths.size())));
        }
        return batches;
    }

    private CompletableFuture<Boolean> removeAll(List<String> paths) {
        return requests.multi(paths.stream().map(path -> Op.delete(path, -1)).toList())
                .thenCompose(done -> done.isPresent()
                        ? CompletableFuture.completedFuture(true)
                        : eachInTurn(paths, requests::delete)); // another client removes them too
    }

    private static <T> CompletableFuture<Boolean> eachInTurn(
            List<T> all, Function<T, CompletableFuture<Boolean>> action) {
        CompletableFuture<Boolean> done = CompletableFuture.completedFuture(true);
        for (T one : all) {
            done = done.thenCompose(before -> action.apply(one));
        }
        return done;
    }

    /** Removes the helper nodes of sessions of dead processes in one shard. */
    CompletableFuture<Boolean> clearLeftovers(int shard) {
        // All nodes of a session are created in one step, so one that is listed first and not alive then has ended.
        return requests.children(layout.helpers(shard), null)
                .thenCompose(names -> eachInTurn(
                        names.orElse(List.of()).stream()
                                .map(SessionId::new)
                                .filter(NodeLayout::isSession)
                                .toList(),
                        id -> requests.get(layout.session(id), null)
                                .thenCompose(session -> session.isPresent()
                                        ? CompletableFuture.completedFuture(true)
                                        : removeRest(id))));
    }
}
