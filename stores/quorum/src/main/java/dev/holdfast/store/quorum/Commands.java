package dev.holdfast.store.quorum;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.CommandHandler;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Executor of commands on a quorum. */
final class Commands {

    /** Older than any epoch: what carries it has no effect, but tells whether the session lives. */
    private static final long NO_EPOCH = -1;

    private final Quorum quorum;
    private final Repairs repairs;

    Commands(Quorum quorum) {
        this.quorum = quorum;
        this.repairs = new Repairs(quorum);
    }

    void carryOut(Command command, CompletableFuture<Reply> future) {
        long askedAt = quorum.loop.now();
        if (command instanceof Command.OnResource on && on.resource().equals(Markers.NAME)) {
            future.complete(new Reply.Refused(Refusal.MISMATCH, "the name belongs to the quorum itself"));
        } else {
            var unused = command.accept(new Execution(future, askedAt));
        }
    }

    /** Execution of one command. */
    private final class Execution implements CommandHandler<CompletableFuture<Reply>, RuntimeException> {

        private final CompletableFuture<Reply> future;
        private final long askedAt;

        private Execution(CompletableFuture<Reply> future, long askedAt) {
            this.future = future;
            this.askedAt = askedAt;
        }

        @Override
        public CompletableFuture<Reply> acquire(Command.Acquire command) {
            Commands.this.acquire(command, future, askedAt);
            return future;
        }

        @Override
        public CompletableFuture<Reply> release(Command.Release command) {
            return onClaim(command, claim -> Commands.this.release(claim, future));
        }

        @Override
        public CompletableFuture<Reply> withdraw(Command.Withdraw command) {
            return onClaim(command, claim -> Commands.this.withdraw(claim, future));
        }

        @Override
        public CompletableFuture<Reply> advance(Command.Advance command) {
            return onHeld(command, claim -> GrantChange.advance(quorum, claim, command, future));
        }

        @Override
        public CompletableFuture<Reply> shrinkTo(Command.ShrinkTo command) {
            return onHeld(command, claim -> GrantChange.shrink(quorum, claim, command, future, askedAt));
        }

        @Override
        public CompletableFuture<Reply> extend(Command.Extend command) {
            return onHeld(command, claim -> Commands.this.extend(claim, command, future, askedAt));
        }

        private CompletableFuture<Reply> onClaim(Command.OnClaim command, Consumer<@Nullable Claim> action) {
            on(command.claim(), future, action);
            return future;
        }

        private CompletableFuture<Reply> onHeld(Command.OnClaim command, Consumer<Claim> action) {
            return onClaim(command, claim -> {
                if (claim == null || claim.state != Claim.State.HELD) {
                    future.complete(new Reply.Absent());
                } else {
                    action.accept(claim);
                }
            });
        }

        @Override
        public CompletableFuture<Reply> poll(Command.Poll command) {
            Commands.this.poll(command, future, askedAt);
            return future;
        }

        @Override
        public CompletableFuture<Reply> yieldFor(Command.Yield command) {
            Commands.this.yieldFor(command, future, askedAt);
            return future;
        }

        @Override
        public CompletableFuture<Reply> openSession(Command.OpenSession command) {
            new SessionOpening(quorum, command, future).begin();
            return future;
        }

        @Override
        public CompletableFuture<Reply> keepAlive(Command.KeepAlive command) {
            Commands.this.keepAlive(command, future);
            return future;
        }

        @Override
        public CompletableFuture<Reply> retire(Command.Retire command) {
            Commands.this.retire(command, future);
            return future;
        }

        @Override
        public CompletableFuture<Reply> closeSession(Command.CloseSession command) {
            close(command, future);
            return future;
        }

        @Override
        public CompletableFuture<Reply> audit(Command.Audit command) {
            Commands.this.audit(command, future);
            return future;
        }

        @Override
        public CompletableFuture<Reply> inspect(Command.Inspect command) {
            Inspection.inspect(quorum, command, future);
            return future;
        }

        @Override
        public CompletableFuture<Reply> forceRelease(Command.ForceRelease command) {
            ForcedRelease.release(quorum, command, future);
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
            future.complete(new Reply.Unsupported("a quorum has no latches and no permits"));
            return future;
        }
    }

    // ---- Sessions

    private void keepAlive(Command.KeepAlive command, CompletableFuture<Reply> future) {
        Session session = quorum.opener.find(command.session());
        if (session == null) {
            future.complete(new Reply.SessionEnded());
        } else if (session.isRetired || command.epoch() < session.epoch) {
            stale(session, future);
        } else {
            session.epoch = command.epoch();
            new KeepAliveRound(quorum, repairs, session, command.patience(), future).begin();
        }
    }

    /** Of a session that has ended, that is told first. */
    private void stale(Session session, CompletableFuture<Reply> future) {
        ifAlive(session, future, () -> future.complete(new Reply.Stale()));
    }

    /** Asks whether a session lives, without moving its end, and answers if it doesn't. */
    private void ifAlive(Session session, CompletableFuture<Reply> future, Runnable alive) {
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
                    quorum.opener.endedAt(session, there);
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
        if (counts[0] == 0) {
            future.complete(new Reply.SessionEnded());
        }
    }

    private void retire(Command.Retire command, CompletableFuture<Reply> future) {
        Session session = quorum.opener.find(command.session());
        if (session == null) {
            future.complete(new Reply.Done());
            return;
        }
        session.isRetired = true;
        for (Claim claim : List.copyOf(session.claims.values())) {
            if (claim.state == Claim.State.WAITING && claim.attempt != null) {
                claim.attempt.abandon();
            }
        }
        toAll(
                session,
                future,
                (there, done) -> there.member.ask(new Command.Retire(there.id), (reply, failure) -> {
                    if (reply != null) {
                        there.isRetired = true;
                        there.goOn();
                    }
                    done.accept(failure);
                }));
    }

    private void close(Command.CloseSession command, CompletableFuture<Reply> future) {
        Session session = quorum.opener.find(command.session());
        if (session == null) {
            future.complete(new Reply.Done());
            return;
        }
        session.isOver = true;
        toAll(session, future, (there, done) -> {
            quorum.settlement.tell(
                    session,
                    there,
                    new Command.CloseSession(there.id),
                    () -> {
                        there.isOver = true;
                        there.goOn();
                        done.accept(null);
                    },
                    0);
            quorum.loop.later(
                    quorum.patience + quorum.patience / 2,
                    () -> done.accept(Quorum.failed(
                            StoreException.Reason.UNAVAILABLE, StoreException.Effect.UNKNOWN, "it did not answer")));
        });
        quorum.sessions.remove(session.id, session);
        for (Claim claim : List.copyOf(session.claims.values())) {
            claim.state = Claim.State.OVER;
            Claim.Attempt attempt = claim.attempt;
            if (attempt != null) {
                attempt.abandon();
            }
        }
        session.claims.clear();
    }

    private interface Telling {
        void tell(MemberSession there, Consumer<@Nullable StoreException> done);
    }

    /** Answers when so many members have done it that no majority is against it. */
    private void toAll(Session session, CompletableFuture<Reply> future, Telling telling) {
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
            telling.tell(there, failure -> {
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
                            StoreException.Effect.UNKNOWN, "The end of a session was heard", failures));
                }
            });
        }
    }

    // ---- Claims

    private void acquire(Command.Acquire command, CompletableFuture<Reply> future, long askedAt) {
        Session session = quorum.opener.find(command.claim().session());
        Kind kind = command.spec().kind();
        if (kind == Kind.SEMAPHORE || kind == Kind.LATCH) {
            future.complete(new Reply.Unsupported(
                    "a quorum admits exclusive and shared claims only: counts of members do not add up"));
        } else if (session == null) {
            future.complete(new Reply.SessionEnded());
        } else if (session.isRetired || command.epoch() < session.epoch) {
            stale(session, future);
        } else if (!session.isTold) {
            ifAlive(
                    session,
                    future,
                    () -> future.completeExceptionally(Quorum.failed(
                            StoreException.Reason.UNAVAILABLE,
                            StoreException.Effect.NONE,
                            "another connection opened the session, and this one has not kept it alive yet")));
        } else {
            make(session, command, future, askedAt, false, false);
        }
    }

    private void make(
            Session session,
            Command.Acquire command,
            CompletableFuture<Reply> future,
            long askedAt,
            boolean isAfterYield,
            boolean isSeenAlive) {
        Claim known = session.claim(command.claim());
        if (known != null && known.state == Claim.State.HELD && known.isDetached() && !isSeenAlive) {
            // The grant may outlive the session, which then has an answer of its own.
            ifAlive(session, future, () -> make(session, command, future, askedAt, isAfterYield, true));
            return;
        }
        if (known != null && known.state != Claim.State.OVER) {
            var unused = state(known, askedAt).whenComplete((reply, failure) -> {
                if (failure != null) {
                    fail(future, failure);
                } else if (reply instanceof Reply.Absent) {
                    // It is over, and is asked for again: a new claim.
                    quorum.loop.post(() -> make(session, command, future, askedAt, isAfterYield, isSeenAlive));
                } else {
                    future.complete(reply);
                }
            });
            return;
        }
        Claim claim = new Claim(session.nextNumber(), session, command.claim(), command.lease(), command);
        if (GrantChange.isTooLong(quorum, claim, command.lease().length())) {
            future.complete(new Reply.Unsupported(
                    "a detached lease of " + command.lease().length()
                            + " is longer than the longest lease of this quorum, " + quorum.longestLease));
            return;
        }
        if (known != null) {
            // What members may still have of it must not be forgotten.
            claim.attempts = known.attempts;
            claim.repaired = known.repaired;
            claim.ending.addAll(known.ending);
        }
        session.claims.put(claim.ref, claim);
        if (isAfterYield) {
            future.complete(RetrySchedule.pause(quorum, session));
            return;
        }
        ask(claim, command, future, askedAt);
    }

    private void ask(Claim claim, Command.Acquire request, CompletableFuture<Reply> future, long askedAt) {
        if (claim.attempts >= MemberIds.MAX_ATTEMPTS) {
            quorum.drop(claim);
            future.complete(new Reply.Absent());
            return;
        }
        GrantAttempt attempt = new GrantAttempt(quorum, claim, request, 0);
        attempt.join(future, askedAt);
        attempt.begin();
    }

    /** The present state of a claim that is known here, asked of the members. */
    private CompletableFuture<Reply> state(Claim claim, long askedAt) {
        CompletableFuture<Reply> future = new CompletableFuture<>();
        Claim.Attempt attempt = claim.attempt;
        if (claim.state == Claim.State.HELD) {
            return ClaimPoll.at(quorum, claim, askedAt);
        } else if (claim.state == Claim.State.OVER || claim.request == null) {
            future.complete(new Reply.Absent());
        } else if (attempt != null) {
            attempt.join(future, askedAt);
        } else if (claim.session.isRetired) {
            future.complete(RetrySchedule.look(quorum, claim.session));
        } else {
            ask(claim, claim.request, future, askedAt);
        }
        return future;
    }

    private void poll(Command.Poll command, CompletableFuture<Reply> future, long askedAt) {
        List<CompletableFuture<Reply>> states = new ArrayList<>();
        for (ClaimRef ref : command.claims()) {
            CompletableFuture<Reply> state = new CompletableFuture<>();
            states.add(state);
            on(ref, state, claim -> {
                if (claim == null) {
                    state.complete(new Reply.Absent());
                } else {
                    var unused = state(claim, askedAt).whenComplete((reply, failure) -> {
                        if (failure != null) {
                            fail(state, failure);
                        } else {
                            state.complete(reply);
                        }
                    });
                }
            });
        }
        var unused = CompletableFuture.allOf(states.toArray(CompletableFuture[]::new))
                .whenComplete((all, failure) -> {
                    if (failure != null) {
                        fail(future, failure);
                    } else {
                        List<Reply.ClaimReply> replies = new ArrayList<>();
                        states.forEach(state -> replies.add((Reply.ClaimReply) state.join()));
                        future.complete(new Reply.Polled(replies));
                    }
                });
    }

    private void yieldFor(Command.Yield command, CompletableFuture<Reply> future, long askedAt) {
        Session session = quorum.opener.find(command.claim().session());
        if (session == null) {
            future.complete(new Reply.SessionEnded());
            return;
        }
        if (session.isRetired || command.next().epoch() < session.epoch) {
            stale(session, future);
            return;
        }
        if (!session.isTold) {
            acquire(command.next(), future, askedAt);
            return;
        }
        Claim held = session.claim(command.claim());
        if (held != null && held.state == Claim.State.HELD && held.request != null) {
            if (!held.request.spec().equals(command.next().spec())) {
                future.complete(new Reply.Refused(Refusal.MISMATCH, "it is in use as another kind of lock"));
                return;
            }
            quorum.drop(held);
        }
        // Nobody can know who waits, so it gives way in any case, and asks a little later than the others.
        make(session, command.next(), future, askedAt, true, false);
    }

    private void release(@Nullable Claim claim, CompletableFuture<Reply> future) {
        if (claim == null || (claim.tokens == null && claim.state == Claim.State.WAITING)) {
            future.complete(new Reply.Absent());
        } else {
            ClaimEnd.release(quorum, claim, future);
        }
    }

    private void withdraw(@Nullable Claim claim, CompletableFuture<Reply> future) {
        if (claim == null) {
            future.complete(new Reply.Done());
        } else {
            ClaimEnd.withdraw(quorum, claim, future);
        }
    }

    private void extend(Claim claim, Command.Extend command, CompletableFuture<Reply> future, long askedAt) {
        if (!claim.hasOwnLease()) {
            future.complete(new Reply.Absent());
        } else if (GrantChange.isTooLong(quorum, claim, command.lease())) {
            future.completeExceptionally(Quorum.failed(
                    StoreException.Reason.DENIED,
                    StoreException.Effect.NONE,
                    "a lease of " + command.lease() + " is longer than the longest lease of this quorum, "
                            + quorum.longestLease));
        } else {
            GrantChange.extend(quorum, claim, command, future, askedAt);
        }
    }

    private void audit(Command.Audit command, CompletableFuture<Reply> future) {
        Session session = quorum.opener.find(command.session());
        if (session == null) {
            future.complete(new Reply.Audited(List.of(), List.of(), java.util.Optional.empty()));
        } else {
            SessionAudit.audit(quorum, session, command, future);
        }
    }

    /** Finds a claim, at the members if need be: another connection may have made it. */
    private void on(ClaimRef ref, CompletableFuture<Reply> future, Consumer<@Nullable Claim> action) {
        Session session = quorum.opener.find(ref.session());
        Claim known = session == null ? null : session.claim(ref);
        if (session == null || known != null || !session.isForeign) {
            action.accept(known);
            return;
        }
        ForeignClaims.claims(quorum, session, (claims, failure) -> {
            if (failure != null) {
                future.completeExceptionally(failure);
            } else {
                action.accept(claims.stream()
                        .filter(claim -> claim.ref.equals(ref))
                        .findFirst()
                        .orElse(null));
            }
        });
    }

    private static void fail(CompletableFuture<Reply> future, Throwable failure) {
        Throwable cause = failure instanceof java.util.concurrent.CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
        future.completeExceptionally(cause);
    }
}
