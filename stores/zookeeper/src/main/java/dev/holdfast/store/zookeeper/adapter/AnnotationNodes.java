package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.zookeeper.client.Node;
import dev.holdfast.store.zookeeper.client.Requests;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;

/**
 * The nodes of annotations: a number of eight octets and a text. They are ephemeral, so they end with this client; it
 * deletes them when their session ends before.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; none blocks.
 */
final class AnnotationNodes {

    private static final byte[] NOTHING = {};

    private final NodeLayout layout;
    private final Requests requests;

    /** The claims of each session of this client that may have a node. */
    private final Map<SessionId, Set<ClaimRef>> written = new ConcurrentHashMap<>();

    AnnotationNodes(NodeLayout layout, Requests requests) {
        this.layout = layout;
        this.requests = requests;
    }

    /** Replaces an annotation; returns false if the session has ended. */
    CompletableFuture<Boolean> annotate(ClaimRef claim, long seq, String text) {
        written.computeIfAbsent(claim.session(), session -> ConcurrentHashMap.newKeySet())
                .add(claim);
        return requests.get(layout.annotation(claim), null).thenCompose(found -> {
            if (found.isPresent()) {
                return ByteBuffer.wrap(found.get().data()).getLong() >= seq
                        ? CompletableFuture.completedFuture(true)
                        : write(claim, replacing(claim, found.get(), data(seq, text)));
            }
            return parents(claim.session())
                    .thenCompose(there -> write(
                            claim,
                            Op.create(
                                    layout.annotation(claim), data(seq, text), requests.acl(), CreateMode.EPHEMERAL)));
        });
    }

    private Op replacing(ClaimRef claim, Node node, byte[] data) {
        return Op.setData(layout.annotation(claim), data, node.stat().getVersion());
    }

    /** Only this client writes the node, and one annotation at a time, so only the session's end can prevent it. */
    private CompletableFuture<Boolean> write(ClaimRef claim, Op operation) {
        return requests.multi(List.of(Op.check(layout.session(claim.session()), -1), operation))
                .thenCompose(done -> {
                    // The grant may have ended meanwhile, and its node been deleted before this one was there.
                    return done.isPresent() && !isWritten(claim)
                            ? requests.delete(layout.annotation(claim)).thenApply(deleted -> true)
                            : CompletableFuture.completedFuture(done.isPresent());
                });
    }

    private boolean isWritten(ClaimRef claim) {
        Set<ClaimRef> claims = written.get(claim.session());
        return claims != null && claims.contains(claim);
    }

    private CompletableFuture<Boolean> parents(SessionId session) {
        return requests.get(layout.annotations(session), null).thenCompose(found -> {
            if (found.isPresent()) {
                return CompletableFuture.completedFuture(true);
            }
            return requests.create(layout.annotations(), NOTHING)
                    .thenCompose(made -> requests.create(layout.annotations(session), NOTHING));
        });
    }

    private static byte[] data(long seq, String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(Long.BYTES + utf8.length)
                .putLong(seq)
                .put(utf8)
                .array();
    }

    CompletableFuture<Boolean> drop(ClaimRef claim) {
        Set<ClaimRef> others = written.get(claim.session());
        if (others != null) {
            others.remove(claim);
        }
        return requests.delete(layout.annotation(claim));
    }

    /** Deletes the annotations of a session that has ended. */
    void dropAll(SessionId session) {
        Set<ClaimRef> claims = written.remove(session);
        if (claims != null) {
            claims.forEach(claim -> Requests.ignoreOutcome(requests.delete(layout.annotation(claim))));
        }
    }

    CompletableFuture<Optional<String>> read(ClaimRef claim) {
        return requests.get(layout.annotation(claim), null)
                .thenApply(found -> found.map(Node::data)
                        .filter(data -> data.length >= Long.BYTES)
                        .map(data -> new String(data, Long.BYTES, data.length - Long.BYTES, StandardCharsets.UTF_8)));
    }
}
