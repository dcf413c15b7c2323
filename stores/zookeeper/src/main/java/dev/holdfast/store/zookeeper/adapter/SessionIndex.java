package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.IndexEntry;
import dev.holdfast.store.register.IndexPage;
import dev.holdfast.store.zookeeper.client.Requests;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.Op;

/** Reads the index of a session, bucket by bucket. */
final class SessionIndex {

    private final NodeLayout layout;
    private final Requests requests;
    private final ZooKeeperSessions sessions;

    SessionIndex(NodeLayout layout, Requests requests, ZooKeeperSessions sessions) {
        this.layout = layout;
        this.requests = requests;
        this.sessions = sessions;
    }

    /**
     * Reads a page.
     *
     * @param cursor the digit of a bucket, and the claim in it after which to continue
     */
    CompletableFuture<Optional<IndexPage>> page(SessionId session, Optional<String> cursor, int limit) {
        if (!NodeLayout.isSession(session)) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        String from = cursor.orElse("0");
        // A transaction passes the leader like a sync, and shows whether the session lives.
        return requests.multi(List.of(Op.check(layout.session(session), -1)))
                .thenCompose(lives -> lives.isEmpty() || sessions.hasEnded(session)
                        ? CompletableFuture.completedFuture(Optional.empty())
                        : page(session, Character.digit(from.charAt(0), 10), from.substring(1), limit, List.of())
                                .thenApply(Optional::of));
    }

    private CompletableFuture<IndexPage> page(
            SessionId session, int bucket, String after, int limit, List<IndexEntry> before) {
        if (bucket == NodeLayout.BUCKETS) {
            return CompletableFuture.completedFuture(new IndexPage(before, Optional.empty()));
        }
        return requests.children(layout.bucket(session, bucket), null).thenCompose(found -> {
            int room = limit - before.size();
            List<String> rest = found.orElse(List.of()).stream()
                    .filter(node -> NodeLayout.claimOf(node).compareTo(after) > 0)
                    .sorted(Comparator.comparing(NodeLayout::claimOf))
                    .toList();
            List<String> nodes = rest.subList(0, Math.min(room, rest.size()));
            List<IndexEntry> entries = new ArrayList<>(before);
            nodes.forEach(node -> NodeLayout.entry(session, node).ifPresent(entries::add));
            if (nodes.size() < room) {
                return page(session, bucket + 1, "", limit, entries);
            }
            String last = NodeLayout.claimOf(nodes.get(nodes.size() - 1));
            boolean isLast = nodes.size() == rest.size() && bucket == NodeLayout.BUCKETS - 1;
            return CompletableFuture.completedFuture(
                    new IndexPage(entries, isLast ? Optional.empty() : Optional.of(bucket + last)));
        });
    }
}
