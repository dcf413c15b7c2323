package dev.holdfast.store.redis;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Reply.ClaimReply;
import dev.holdfast.spi.Reply.Granted;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Stages;
import dev.holdfast.store.redis.script.ScriptCall;
import dev.holdfast.store.redis.script.ScriptReply;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Waits for replicas to acknowledge grants: a grant counts only when enough of them have it. One that they don't
 * acknowledge in time is withdrawn, and its request fails. A grant made when another claim ended is withdrawn in the
 * same way; its claimant learns from a poll that the claim is absent, and claims again.
 */
final class ReplicaAcknowledgement {

    private final Replicas replicas;
    private final String server;

    /** This client's acknowledged grants, for which replicas are not asked again. */
    private final Set<ClaimRef> confirmed = ConcurrentHashMap.newKeySet();

    ReplicaAcknowledgement(Replicas replicas, String server) {
        this.replicas = replicas;
        this.server = server;
    }

    /** Whether grants must be acknowledged. */
    boolean isWanted() {
        return replicas.areAsked();
    }

    /**
     * Sends a command that may grant a claim.
     *
     * @param effect what a failure means for the command
     */
    CompletionStage<Reply> send(
            CommandPipeline pipeline, Command command, ScriptCall call, ClaimRef claim, StoreException.Effect effect) {
        return pipeline.submitConfirmed(call).thenCompose(answer -> {
            Reply reply = answer.reply(command);
            if (!(reply instanceof Granted) || isEnough(answer, claim)) {
                return CompletableFuture.completedFuture(reply);
            }
            return withdraw(pipeline, claim)
                    .thenCompose(done ->
                            CompletableFuture.failedFuture(replicas.missing(server, answer.replicas(), effect)));
        });
    }

    /** Polls claims, which may have been granted meanwhile. */
    CompletionStage<List<ClaimReply>> poll(CommandPipeline pipeline, List<ClaimRef> claims) {
        if (!replicas.areAsked() || confirmed.containsAll(claims)) {
            return pipeline.submit(ScriptCall.poll(claims)).thenApply(answer -> noted(claims, answer.states()));
        }
        return pipeline.submitConfirmed(ScriptCall.poll(claims)).thenCompose(answer -> {
            CompletionStage<List<ClaimReply>> all = CompletableFuture.completedFuture(new ArrayList<>());
            List<ClaimReply> states = answer.states();
            for (int i = 0; i < states.size(); i++) {
                ClaimRef claim = claims.get(i);
                ClaimReply state = states.get(i);
                CompletionStage<ClaimReply> known =
                        !(state instanceof Granted) || confirmed.contains(claim) || isEnough(answer, claim)
                                ? CompletableFuture.completedFuture(state)
                                : withdraw(pipeline, claim).thenApply(done -> new Reply.Absent());
                all = all.thenCombine(known, (list, one) -> {
                    list.add(one);
                    return list;
                });
            }
            return all.thenApply(list -> noted(claims, list));
        });
    }

    /** Forgets a claim that has ended or is about to. */
    void forget(ClaimRef claim) {
        confirmed.remove(claim);
    }

    /** Forgets the claims of a session that has ended or is about to. */
    void forget(SessionId session) {
        confirmed.removeIf(claim -> claim.session().equals(session));
    }

    /** A listener that gets no grants that may not count: a signalled grant becomes a hint to poll. */
    Consumer<Signal> hints(Consumer<Signal> listener) {
        return replicas.areAsked()
                ? signal -> listener.accept(
                        signal instanceof Signal.Granted granted ? new Signal.Changed(granted.claim()) : signal)
                : listener;
    }

    private List<ClaimReply> noted(List<ClaimRef> claims, List<ClaimReply> states) {
        for (int i = 0; i < states.size(); i++) {
            if (!(states.get(i) instanceof Granted)) {
                confirmed.remove(claims.get(i));
            }
        }
        return states;
    }

    private boolean isEnough(ScriptReply answer, ClaimRef claim) {
        if (answer.replicas() < replicas.count()) {
            return false;
        }
        confirmed.add(claim);
        return true;
    }

    /** If it fails, the effect is unknown: the grant exists until it is withdrawn. */
    private static CompletionStage<ScriptReply> withdraw(CommandPipeline pipeline, ClaimRef claim) {
        return pipeline.submit(ScriptCall.withdraw(new Command.Withdraw(claim, Command.Sending.FIRST)))
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(notWithdrawn(failure)));
    }

    private static StoreException notWithdrawn(Throwable failure) {
        return new StoreException(
                StoreException.Reason.UNAVAILABLE,
                StoreException.Effect.UNKNOWN,
                "too few replicas acknowledged a grant, and withdrawing it failed: "
                        + Stages.causeOf(failure).getMessage(),
                failure);
    }
}
