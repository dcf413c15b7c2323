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
 * Acknowledgement of grants by replicas: a grant counts only when enough of them have it. One that they do not have in
 * time is withdrawn, and the request for it fails; a grant that was made when another claim ended is withdrawn in the
 * same way, and its claimant, who is told that there is no such claim any more, asks again.
 */
final class ReplicaAcknowledgement {

    private final Replicas replicas;
    private final String server;

    /** The grants of this client that replicas have had: they are not asked about again. */
    private final Set<ClaimRef> confirmed = ConcurrentHashMap.newKeySet();

    ReplicaAcknowledgement(Replicas replicas, String server) {
        this.replicas = replicas;
        this.server = server;
    }

    /** Whether a grant does not count yet when it is answered. */
    boolean isWanted() {
        return replicas.areAsked();
    }

    /**
     * Sends a command by which a claim may be granted.
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

    /** Asks about claims, which may have been granted since. */
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

    /** Notes that a claim has ended, or was asked to end. */
    void forget(ClaimRef claim) {
        confirmed.remove(claim);
    }

    /** Notes that a session has ended, or was asked to end. */
    void forget(SessionId session) {
        confirmed.removeIf(claim -> claim.session().equals(session));
    }

    /**
     * Hints that make nobody believe in a grant that may not count: of one that was made when another claim ended, only
     * that it is to be asked about.
     */
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

    /** Whatever comes of it, it was not without effect: the grant is there until this is done. */
    private static CompletionStage<ScriptReply> withdraw(CommandPipeline pipeline, ClaimRef claim) {
        return pipeline.submit(ScriptCall.withdraw(new Command.Withdraw(claim, Command.Sending.FIRST)))
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(notWithdrawn(failure)));
    }

    private static StoreException notWithdrawn(Throwable failure) {
        return new StoreException(
                StoreException.Reason.UNAVAILABLE,
                StoreException.Effect.UNKNOWN,
                "too few replicas acknowledged a grant, and to withdraw it failed: "
                        + Stages.causeOf(failure).getMessage(),
                failure);
    }
}
