package dev.holdfast.store.quorum;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.CommandHandler;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.spi.support.Stages;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The execution of one command on a quorum. */
final class CommandExecution implements CommandHandler<CompletableFuture<Reply>, RuntimeException> {

    /** Below every epoch: a command with it has no effect, but its reply shows whether the session is alive. */
    private static final long NO_EPOCH = -1;

    private final Quorum quorum;
    private final Repairs repairs;
    private final CompletableFuture<Reply> future;
    private final long requestedAt;

    private CommandExecution(Quorum quorum, Repairs repairs, CompletableFuture<Reply> future) {
        this.quorum = quorum;
        this.repairs = repairs;
        this.future = future;
        this.requestedAt = quorum.loop.now();
    }

    static void start(Quorum quorum, Repairs repairs, Command command, CompletableFuture<Reply> future) {
        CommandExecution execution = new CommandExecution(quorum, repairs, future);
        var unused = command instanceof Command.OnResource on && on.resource().equals(Markers.NAME)
                ? execution.answer(new Reply.Refused(Refusal.MISMATCH, "the name is reserved for the quorum"))
                : command.accept(execution);
    }

    private CompletableFuture<Reply> answer(Reply reply) {
        future.complete(reply);
        return future;
    }

    private CompletableFuture<Reply> fail(StoreException.Reason reason, StoreException.Effect effect, String message) {
        future.completeExceptionally(Quorum.failed(reason, effect, message));
        return future;
    }

    // ---- Sessions

    @Override
    public CompletableFuture<Reply> openSession(Command.OpenSession command) {
        new SessionOpening(quorum, command, future).begin();
        return future;
    }

    @Override
    public CompletableFuture<Reply> keepAlive(Command.KeepAlive command) {
        QuorumSession session = quorum.memberSessions.find(command.session());
        if (session == null) {
            return answer(new Reply.SessionEnded());
        } else if (session.isRetired || command.epoch() < session.epoch) {
            return stale(session);
        }
        session.epoch = command.epoch();
        new KeepAliveRound(quorum, repairs, session, command.responseTimeout(), future).begin();
        return future;
    }

    /** Answers that a session has ended, if it has, and otherwise that the command is stale. */
    private CompletableFuture<Reply> stale(QuorumSession session) {
        return ifAlive(session, () -> future.complete(new Reply.Stale()));
    }

    /** Checks whether a session is alive, without extending it, and answers if it has ended. */
    private CompletableFuture<Reply> ifAlive(QuorumSession session, Runnable alive) {
        int[] counts = {0, 0};
        for (MemberSession there : session.at.clone()) {
            if (there == null) {
                continue;
            }
            counts[0]++;
            there.member.ask(new Command.KeepAlive(there.id, NO_EPOCH), (reply, failure) -> {
                counts[0]--;
                counts[1] += reply instanceof Reply.Stale ? 1 : 0;
                if (reply instanceof Reply.SessionEnded) {
                    quorum.memberSessions.endedAt(session, there);
                }
                if (future.isDone()) {
                    return;
                }
                if (session.isOver) {
                    future.complete(new Reply.SessionEnded());
                } else if (counts[1] >= quorum.majority() || counts[0] == 0) {
                    alive.run();
                }
            });
        }
        return counts[0] == 0 ? answer(new Reply.SessionEnded()) : future;
    }

    @Override
    public CompletableFuture<Reply> retire(Command.Retire command) {
        QuorumSession session = quorum.memberSessions.find(command.session());
        if (session == null) {
            return answer(new Reply.Done());
        }
        session.isRetired = true;
        for (QuorumClaim claim : List.copyOf(session.claims.values())) {
            if (claim.state == QuorumClaim.State.WAITING) {
                claim.abandonAttempt();
            }
        }
        return toAll(
                session,
                (there, done) -> there.member.ask(new Command.Retire(there.id), (reply, failure) -> {
                    if (reply != null) {
                        there.isRetired = true;
                        there.runDue();
                    }
                    done.accept(failure);
                }));
    }

    @Override
    public CompletableFuture<Reply> closeSession(Command.CloseSession command) {
        QuorumSession session = quorum.memberSessions.find(command.session());
        if (session == null) {
            return answer(new Reply.Done());
        }
        session.isOver = true;
        var unused = toAll(session, (there, done) -> {
            quorum.memberSessions.closeAt(session, there, () -> done.accept(null));
            quorum.loop.later(
                    quorum.memberTimeoutNanos + quorum.memberTimeoutNanos / 2,
                    () -> done.accept(Quorum.failed(
                            StoreException.Reason.UNAVAILABLE, StoreException.Effect.UNKNOWN, "it did not answer")));
        });
        quorum.sessions.remove(session.id, session);
        for (QuorumClaim claim : List.copyOf(session.claims.values())) {
            claim.state = QuorumClaim.State.OVER;
            claim.abandonAttempt();
        }
        session.claims.clear();
        return future;
    }

    @Override
    public CompletableFuture<Reply> audit(Command.Audit command) {
        QuorumSession session = quorum.memberSessions.find(command.session());
        if (session == null) {
            return answer(new Reply.Audited(List.of(), List.of(), Optional.empty()));
        }
        SessionAudit.audit(quorum, session, command, future);
        return future;
    }

    private interface MemberCommand {
        void send(MemberSession there, Consumer<@Nullable StoreException> done);
    }

    /** Answers when so many members have done it that no majority can lack it. */
    private CompletableFuture<Reply> toAll(QuorumSession session, MemberCommand command) {
        int[] counts = {0, 0};
        List<MemberSession> all = new ArrayList<>();
        for (MemberSession there : session.at) {
            if (there != null) {
                all.add(there);
            }
        }
        int needed = Math.max(0, all.size() - quorum.majority() + 1);
        if (needed == 0) {
            future.complete(new Reply.Done());
        }
        List<String> failures = new ArrayList<>();
        for (MemberSession there : all) {
            boolean[] isDone = {false};
            command.send(there, failure -> {
                if (isDone[0]) {
                    return;
                }
                isDone[0] = true;
                counts[0] += failure == null ? 1 : 0;
                counts[1]++;
                if (failure != null) {
                    failures.add(there.member + ": " + failure.getMessage());
                }
                if (counts[0] >= needed) {
                    future.complete(new Reply.Done());
                } else if (counts[1] == all.size()) {
                    future.completeExceptionally(quorum.unavailable(
                            StoreException.Effect.UNKNOWN, "The end of a session was acknowledged", failures));
                }
            });
        }
        return future;
    }

    // ---- Claims

    @Override
    public CompletableFuture<Reply> acquire(Command.Acquire command) {
        QuorumSession session = quorum.memberSessions.find(command.claim().session());
        Kind kind = command.spec().kind();
        if (kind == Kind.SEMAPHORE || kind == Kind.LATCH) {
            return answer(new Reply.Unsupported(
                    "a quorum supports only exclusive and shared claims, because permit counts of "
                            + "members don't add up"));
        } else if (session == null) {
            return answer(new Reply.SessionEnded());
        } else if (session.isRetired || command.epoch() < session.epoch) {
            return stale(session);
        } else if (!session.isConfirmed) {
            return ifAlive(session, () -> {
                var unused = fail(
                        StoreException.Reason.UNAVAILABLE,
                        StoreException.Effect.NONE,
                        "another connection opened the session, and this one has not renewed it yet");
            });
        }
        return make(session, command, false, false);
    }

    private CompletableFuture<Reply> make(
            QuorumSession session, Command.Acquire command, boolean isAfterYield, boolean isSeenAlive) {
        QuorumClaim known = session.claim(command.claim());
        if (known != null && known.state == QuorumClaim.State.HELD && known.isDetached() && !isSeenAlive) {
            // The grant may outlive the session, whose end has a different reply.
            return ifAlive(session, () -> {
                var unused = make(session, command, isAfterYield, true);
            });
        }
        if (known != null && known.state != QuorumClaim.State.OVER) {
            var unused = state(known).whenComplete((reply, failure) -> {
                if (failure == null && reply instanceof Reply.Absent) {
                    // It has ended and is requested again: a new claim.
                    quorum.loop.post(() -> {
                        var unusedAgain = make(session, command, isAfterYield, isSeenAlive);
                    });
                } else {
                    pass(reply, failure, future);
                }
            });
            return future;
        }
        QuorumClaim claim = new QuorumClaim(session.nextNumber(), session, command.claim(), command.lease(), command);
        if (GrantChange.isTooLong(quorum, claim, command.lease().length())) {
            return answer(new Reply.Unsupported("a detached lease of "
                    + DurationFormat.format(command.lease().length())
                    + " is longer than the longest lease of this quorum, "
                    + DurationFormat.format(quorum.longestLease)));
        }
        if (known != null) {
            // What members may still have of it must still be ended.
            claim.attempts = known.attempts;
            claim.repaired = known.repaired;
            claim.ending.addAll(known.ending);
            known.successor = claim;
        }
        session.claims.put(claim.ref, claim);
        if (isAfterYield) {
            return answer(RetrySchedule.afterYield(quorum, session));
        }
        ask(claim, command, future);
        return future;
    }

    private void ask(QuorumClaim claim, Command.Acquire request, CompletableFuture<Reply> asked) {
        if (claim.attempts >= MemberIds.MAX_ATTEMPTS) {
            quorum.drop(claim);
            asked.complete(new Reply.Absent());
            return;
        }
        GrantAttempt attempt = new GrantAttempt(quorum, claim, request, 0);
        attempt.join(asked, requestedAt);
        attempt.begin();
    }

    /** The current state of a known claim, polled from the members. */
    private CompletableFuture<Reply> state(QuorumClaim claim) {
        CompletableFuture<Reply> state = new CompletableFuture<>();
        QuorumClaim.Attempt attempt = claim.attempt;
        if (claim.state == QuorumClaim.State.HELD) {
            return ClaimPoll.at(quorum, claim, requestedAt);
        } else if (claim.state == QuorumClaim.State.OVER || claim.request == null) {
            state.complete(new Reply.Absent());
        } else if (attempt != null) {
            attempt.join(state, requestedAt);
        } else if (claim.session.isRetired) {
            state.complete(RetrySchedule.poll(quorum, claim.session));
        } else {
            ask(claim, claim.request, state);
        }
        return state;
    }

    @Override
    public CompletableFuture<Reply> poll(Command.Poll command) {
        List<CompletableFuture<Reply>> states = new ArrayList<>();
        for (ClaimRef ref : command.claims()) {
            CompletableFuture<Reply> state = new CompletableFuture<>();
            states.add(on(ref, state, claim -> {
                if (claim == null) {
                    state.complete(new Reply.Absent());
                } else {
                    var unused = state(claim).whenComplete((reply, failure) -> pass(reply, failure, state));
                }
            }));
        }
        var unused = CompletableFuture.allOf(states.toArray(CompletableFuture[]::new))
                .<Reply>thenApply(all -> new Reply.Polled(states.stream()
                        .map(state -> (Reply.ClaimReply) state.join())
                        .toList()))
                .whenComplete((reply, failure) -> pass(reply, failure, future));
        return future;
    }

    @Override
    public CompletableFuture<Reply> yieldFor(Command.Yield command) {
        QuorumSession session = quorum.memberSessions.find(command.claim().session());
        if (session == null) {
            return answer(new Reply.SessionEnded());
        } else if (session.isRetired || command.next().epoch() < session.epoch) {
            return stale(session);
        } else if (!session.isConfirmed) {
            return acquire(command.next());
        }
        QuorumClaim yielded = session.claim(command.claim());
        if (yielded != null && yielded.state == QuorumClaim.State.HELD && yielded.request != null) {
            if (!yielded.request.spec().equals(command.next().spec())) {
                return answer(new Reply.Refused(Refusal.MISMATCH, "it is in use as a different kind of lock"));
            }
            yielded.isAnnotated |= command.isAnnotated();
            quorum.drop(yielded);
        }
        // The waiters are unknown, so it always yields, and tries a little later than the others.
        return make(session, command.next(), true, false);
    }

    @Override
    public CompletableFuture<Reply> release(Command.Release command) {
        return on(command.claim(), future, claim -> {
            if (claim == null || (claim.tokens == null && claim.state == QuorumClaim.State.WAITING)) {
                future.complete(new Reply.Absent());
            } else {
                claim.isAnnotated |= command.isAnnotated();
                ClaimEnd.release(quorum, claim, future);
            }
        });
    }

    @Override
    public CompletableFuture<Reply> withdraw(Command.Withdraw command) {
        return on(command.claim(), future, claim -> {
            if (claim == null) {
                future.complete(new Reply.Done());
            } else {
                ClaimEnd.withdraw(quorum, claim, future);
            }
        });
    }

    @Override
    public CompletableFuture<Reply> advance(Command.Advance command) {
        return onHeld(command, claim -> GrantChange.advance(quorum, claim, command, future));
    }

    @Override
    public CompletableFuture<Reply> shrinkTo(Command.ShrinkTo command) {
        return onHeld(command, claim -> GrantChange.shrink(quorum, claim, command, future, requestedAt));
    }

    @Override
    public CompletableFuture<Reply> extend(Command.Extend command) {
        return onHeld(command, claim -> {
            if (!claim.hasFixedLease()) {
                future.complete(new Reply.Absent());
            } else if (GrantChange.isTooLong(quorum, claim, command.lease())) {
                var unused = fail(
                        StoreException.Reason.DENIED,
                        StoreException.Effect.NONE,
                        "a lease of " + DurationFormat.format(command.lease())
                                + " is longer than the longest lease of this quorum, "
                                + DurationFormat.format(quorum.longestLease));
            } else {
                GrantChange.extend(quorum, claim, command, future, requestedAt);
            }
        });
    }

    @Override
    public CompletableFuture<Reply> annotate(Command.Annotate command) {
        return onHeld(command, claim -> GrantChange.annotate(quorum, claim, command, future, requestedAt));
    }

    private CompletableFuture<Reply> onHeld(Command.OnClaim command, Consumer<QuorumClaim> action) {
        return on(command.claim(), future, claim -> {
            if (claim == null || claim.state != QuorumClaim.State.HELD) {
                future.complete(new Reply.Absent());
            } else {
                action.accept(claim);
            }
        });
    }

    /** Finds a claim, if necessary at the members, because another connection may have made it. */
    private CompletableFuture<Reply> on(
            ClaimRef ref, CompletableFuture<Reply> asked, Consumer<@Nullable QuorumClaim> action) {
        QuorumSession session = quorum.memberSessions.find(ref.session());
        QuorumClaim known = session == null ? null : session.claim(ref);
        if (session == null || known != null || !session.isForeign) {
            action.accept(known);
            return asked;
        }
        ForeignClaims.claims(quorum, session, (claims, failure) -> {
            if (failure != null) {
                asked.completeExceptionally(failure);
            } else {
                action.accept(claims.stream()
                        .filter(claim -> claim.ref.equals(ref))
                        .findFirst()
                        .orElse(null));
            }
        });
        return asked;
    }

    // ---- The rest

    @Override
    public CompletableFuture<Reply> inspect(Command.Inspect command) {
        QuorumInspection.inspect(quorum, command, future);
        return future;
    }

    @Override
    public CompletableFuture<Reply> forceRelease(Command.ForceRelease command) {
        ForcedRelease.release(quorum, command, future);
        return future;
    }

    @Override
    public CompletableFuture<Reply> recordRun(Command.RecordRun command) {
        QuorumRuns.ask(quorum, command, future);
        return future;
    }

    @Override
    public CompletableFuture<Reply> listRuns(Command.ListRuns command) {
        QuorumRuns.ask(quorum, command, future);
        return future;
    }

    @Override
    public CompletableFuture<Reply> setCount(Command.SetCount command) {
        return unsupported();
    }

    @Override
    public CompletableFuture<Reply> countDown(Command.CountDown command) {
        return unsupported();
    }

    @Override
    public CompletableFuture<Reply> resize(Command.Resize command) {
        return unsupported();
    }

    private CompletableFuture<Reply> unsupported() {
        return answer(new Reply.Unsupported("a quorum doesn't support latches or permits"));
    }

    private static void pass(@Nullable Reply reply, @Nullable Throwable failure, CompletableFuture<Reply> asked) {
        if (reply != null) {
            asked.complete(reply);
        } else if (failure != null) {
            asked.completeExceptionally(Stages.causeOf(failure));
        }
    }
}
