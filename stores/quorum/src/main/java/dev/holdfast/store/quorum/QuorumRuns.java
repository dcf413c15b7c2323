package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.RecordRun;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Reply.Runs.Run;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.store.quorum.member.Member;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Runs of scheduled tasks: recorded at all members, and read from a majority. For people; nothing depends on them. */
final class QuorumRuns {

    private final Quorum quorum;
    private final CompletableFuture<Reply> future;
    private final List<Reply> replies = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    private Reply.@Nullable Unsupported unsupported;
    private int pending;

    private QuorumRuns(Quorum quorum, CompletableFuture<Reply> future) {
        this.quorum = quorum;
        this.future = future;
    }

    static void ask(Quorum quorum, Command command, CompletableFuture<Reply> future) {
        new QuorumRuns(quorum, future).begin(command);
    }

    private void begin(Command command) {
        pending = quorum.members.size();
        for (Member member : quorum.members) {
            member.ask(command, (reply, failure) -> {
                pending--;
                if (reply instanceof Reply.Done || reply instanceof Reply.Runs) {
                    replies.add(reply);
                } else if (reply instanceof Reply.Unsupported why) {
                    unsupported = why;
                } else {
                    failures.add(member + ": " + (failure == null ? reply : failure.getMessage()));
                }
                decide();
            });
        }
    }

    private void decide() {
        if (future.isDone()) {
            return;
        }
        if (replies.size() >= quorum.majority()) {
            future.complete(replies.get(0) instanceof Reply.Done ? new Reply.Done() : new Reply.Runs(newest()));
        } else if (pending == 0 && unsupported != null) {
            future.complete(unsupported);
        } else if (pending == 0) {
            future.completeExceptionally(
                    quorum.unavailable(Effect.UNKNOWN, "The runs of a task were recorded or read", failures));
        }
    }

    private List<Run> newest() {
        Map<Long, Run> byToken = new TreeMap<>(Comparator.reverseOrder());
        for (Reply reply : replies) {
            if (reply instanceof Reply.Runs some) {
                some.runs().forEach(run -> byToken.putIfAbsent(run.token(), run));
            }
        }
        return byToken.values().stream().limit(RecordRun.KEPT).toList();
    }
}
