package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.register.History;
import dev.holdfast.store.zookeeper.client.Requests;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.Op;

/**
 * The nodes of the histories of scheduled tasks.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; none blocks.
 */
final class HistoryNodes {

    private static final byte[] NOTHING = {};

    private final NodeLayout layout;
    private final Requests requests;

    HistoryNodes(NodeLayout layout, Requests requests) {
        this.layout = layout;
        this.requests = requests;
    }

    CompletableFuture<History> read(ResourceName task) {
        CompletableFuture<Boolean> synced = requests.sync(layout.root());
        return requests.get(layout.history(task), null)
                .thenCombine(
                        synced,
                        (found, done) -> found.map(node -> new History(
                                        Optional.of(node.data()), node.stat().getVersion()))
                                .orElseGet(() -> new History(Optional.empty(), 0)));
    }

    /** Replaces a history; returns false if it is no longer the expected one. */
    CompletableFuture<Boolean> replace(ResourceName task, History expected, byte[] content) {
        String path = layout.history(task);
        if (expected.content().isPresent()) {
            return requests.multi(List.of(Op.setData(path, content, (int) expected.version())))
                    .thenApply(Optional::isPresent);
        }
        return requests.create(layout.histories(), NOTHING)
                .thenCompose(made -> requests.create(layout.histories(task), NOTHING))
                .thenCompose(made -> requests.create(path, content));
    }
}
