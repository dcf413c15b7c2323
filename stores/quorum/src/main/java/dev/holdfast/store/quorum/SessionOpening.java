package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.store.quorum.member.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Opens a client's session: at a majority before it answers, at the other members when they do. */
final class SessionOpening {

    private final Quorum quorum;
    private final Command.OpenSession command;
    private final CompletableFuture<Reply> future;
    private final String nonce;
    private final Duration ttl;
    private final long startedAt;
    private final @Nullable MemberSession[] at;

    /** By the index of the member: whether it is known if a session was opened there. */
    private final boolean[] hasAnswered;

    private final List<String> failures = new ArrayList<>();
    private @Nullable StoreException denied;
    private @Nullable QuorumSession session;
    private int pending;
    private int fit;

    SessionOpening(Quorum quorum, Command.OpenSession command, CompletableFuture<Reply> future) {
        this.quorum = quorum;
        this.command = command;
        this.future = future;
        this.nonce = MemberIds.nonce(quorum.environment.randomLong());
        this.ttl = rounded(command.ttl());
        this.startedAt = quorum.loop.now();
        this.at = new @Nullable MemberSession[quorum.members.size()];
        this.hasAnswered = new boolean[quorum.members.size()];
    }

    /** A ttl that all members support: at least the longest minimum, in multiples of the coarsest granularity. */
    private Duration rounded(Duration asked) {
        Duration least = asked.compareTo(quorum.minTtl) < 0 ? quorum.minTtl : asked;
        long grain = quorum.granularity.toNanos();
        long over = least.toNanos() % grain;
        Duration up = over == 0 ? least : least.plusNanos(grain - over);
        return up.compareTo(Command.MAX_DURATION) > 0 ? Command.MAX_DURATION : up;
    }

    void begin() {
        if (ttl.compareTo(quorum.longestLease) > 0) {
            future.completeExceptionally(Quorum.failed(
                    Reason.DENIED,
                    Effect.NONE,
                    "A session of " + DurationFormat.format(ttl) + " is longer than the longest lease of this quorum, "
                            + DurationFormat.format(quorum.longestLease)
                            + "; raise longestLease for all clients, or shorten the session"));
            return;
        }
        Markers.Round round = new Markers.Round(quorum.members.size());
        String label = MemberIds.label(command.label(), nonce);
        pending = quorum.members.size();
        for (Member member : quorum.members) {
            quorum.memberSessions.openAt(member, ttl, label, round, (there, unfit) -> opened(member, there, unfit));
        }
    }

    private void opened(Member member, @Nullable MemberSession there, Optional<StoreException> unfit) {
        pending--;
        hasAnswered[member.index] = true;
        unfit.ifPresent(why -> failures.add(member + ": " + why.getMessage()));
        if (unfit.isPresent() && unfit.get().reason() != Reason.UNAVAILABLE) {
            denied = denied == null ? unfit.get() : denied;
        }
        QuorumSession open = session;
        if (open != null) {
            MemberSessions.opened(open, member.index, there);
        } else {
            at[member.index] = there;
            fit += there != null && unfit.isEmpty() ? 1 : 0;
        }
        // Posted, so that answers that are already queued count too.
        quorum.loop.post(this::decide);
    }

    private void decide() {
        if (future.isDone()) {
            return;
        }
        StoreException no = denied;
        if (no != null) {
            fail(no);
        } else if (fit >= quorum.majority()) {
            succeed();
        } else if (pending == 0) {
            fail(quorum.unavailable(Effect.NONE, "A session was opened", failures));
        }
    }

    private void succeed() {
        QuorumSession open = new QuorumSession(MemberIds.session(nonce, at), nonce, command.label(), ttl, at);
        session = open;
        open.isConfirmed = true;
        open.confirmedSince = startedAt;
        for (Member member : quorum.members) {
            open.isOpening[member.index] = !hasAnswered[member.index];
        }
        quorum.sessions.put(open.id, open);
        future.complete(new Reply.SessionOpened(open.id, ttl));
    }

    private void fail(StoreException why) {
        for (MemberSession there : at) {
            if (there != null) {
                there.close();
            }
        }
        future.completeExceptionally(why);
    }
}
