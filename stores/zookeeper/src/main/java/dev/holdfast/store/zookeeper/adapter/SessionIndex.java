package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.IndexEntry;
import dev.holdfast.store.zookeeper.client.Requests;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Reads the index of a session. */
final class SessionIndex {

    private final NodeLayout layout;
    private final Requests requests;
    private final Sessions sessions;

    SessionIndex(NodeLayout layout, Requests requests, Sessions sessions) {
        this.layout = layout;
        this.requests = requests;
        this.sessions = sessions;
    }

    CompletableFuture<List<IndexEntry>> claims(SessionId session) {
        if (!NodeLayout.isSession(session)) {
            return CompletableFuture.completedFuture(List.of());
        }
        String parent = layout.index(session);
        return requests.children(parent, null)
                .thenCompose(names -> entries(session, parent, names.orElse(List.of())))
                // Read last: the entries of a session that has ended since don't count.
                .thenCompose(
                        entries -> sessions.read(session).thenApply(alive -> alive.isPresent() ? entries : List.of()));
    }

    private CompletableFuture<List<IndexEntry>> entries(SessionId session, String parent, List<String> names) {
        List<CompletableFuture<Optional<IndexEntry>>> reads = new ArrayList<>();
        for (String name : names) {
            NodeLayout.claim(session, name).ifPresent(claim -> reads.add(entry(claim, parent + '/' + name)));
        }
        return CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new)).thenApply(all -> {
            List<IndexEntry> entries = new ArrayList<>();
            reads.forEach(read -> read.join().ifPresent(entries::add));
            return entries;
        });
    }

    private CompletableFuture<Optional<IndexEntry>> entry(ClaimRef claim, String path) {
        return requests.get(path, null)
                .thenApply(node -> node.map(found -> new IndexEntry(claim, NodeData.isHeld(path, found.data()))));
    }
}
