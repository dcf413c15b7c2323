package dev.holdfast.store.etcd;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.store.etcd.rpc.EtcdClient;
import dev.holdfast.store.etcd.rpc.Transaction;
import dev.holdfast.store.etcd.rpc.Transaction.Branch;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The keys of annotations. Thread-safe; no method blocks. */
final class EtcdAnnotations {

    /** Below the default limit of a server for the operations of a transaction. */
    private static final int MOST_AT_ONCE = 100;

    private final EtcdClient client;
    private final KeyLayout keys;

    EtcdAnnotations(EtcdClient client, KeyLayout keys) {
        this.client = client;
        this.keys = keys;
    }

    /** Only this client writes the key, so a second attempt can only be needed for a late copy of its own first one. */
    CompletionStage<Boolean> annotate(ClaimRef claim, long seq, String text) {
        return put(claim, seq, text, true).thenCompose(outcome -> {
            if (outcome != Outcome.EXISTS) {
                return CompletableFuture.completedFuture(outcome == Outcome.DONE);
            }
            // Later numbers stay: then nothing is done, and that is the right answer too.
            return put(claim, seq, text, false).thenApply(again -> again != Outcome.ENDED);
        });
    }

    private enum Outcome {
        DONE,
        EXISTS,
        ENDED
    }

    private CompletionStage<Outcome> put(ClaimRef claim, long seq, String text, boolean isFirst) {
        byte[] key = keys.annotation(claim);
        byte[] value = KeyLayout.annotationValue(seq, text);
        Transaction put = new Transaction().exists(keys.session(claim.session()));
        if (isFirst) {
            put.createdBy(key, 0);
        } else {
            put.valueBefore(key, KeyLayout.annotationValue(seq, ""));
        }
        put.put(key, value, KeyLayout.leaseOf(claim.session())).get(Branch.ELSE, keys.session(claim.session()));
        return client.run(put)
                .thenApply(answer -> answer.succeeded()
                        ? Outcome.DONE
                        : answer.ranges().get(0).only().isPresent() ? Outcome.EXISTS : Outcome.ENDED);
    }

    CompletionStage<Void> drop(ClaimRef claim) {
        return client.run(new Transaction().delete(keys.annotation(claim))).thenAccept(done -> {});
    }

    CompletionStage<Map<ClaimRef, String>> read(Collection<ClaimRef> claims) {
        List<ClaimRef> all = List.copyOf(claims);
        CompletionStage<Map<ClaimRef, String>> found = CompletableFuture.completedFuture(new HashMap<>());
        for (int i = 0; i < all.size(); i += MOST_AT_ONCE) {
            List<ClaimRef> some = all.subList(i, Math.min(all.size(), i + MOST_AT_ONCE));
            found = found.thenCombine(readSome(some), (before, more) -> {
                before.putAll(more);
                return before;
            });
        }
        return found;
    }

    private CompletionStage<Map<ClaimRef, String>> readSome(List<ClaimRef> claims) {
        Transaction reads = new Transaction();
        claims.forEach(claim -> reads.get(Branch.THEN, keys.annotation(claim)));
        return client.run(reads).thenApply(answer -> {
            Map<ClaimRef, String> texts = new HashMap<>();
            for (int i = 0; i < claims.size(); i++) {
                ClaimRef claim = claims.get(i);
                answer.ranges().get(i).only().ifPresent(key -> texts.put(claim, KeyLayout.annotationText(key.value())));
            }
            return texts;
        });
    }
}
