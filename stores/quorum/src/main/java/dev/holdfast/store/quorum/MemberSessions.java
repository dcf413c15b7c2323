package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.quorum.member.Member;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The sessions at the members: opens them, again if one has ended, and handles their ends. */
final class MemberSessions {

    private final Quorum quorum;

    MemberSessions(Quorum quorum) {
        this.quorum = quorum;
    }

    // ---- At one member

    /**
     * Opens a session at a member and determines whether the member may be trusted.
     *
     * @param done called with the session, and with what makes the member unfit, if anything
     */
    void openAt(
            Member member,
            Duration ttl,
            String label,
            Markers.Round round,
            java.util.function.BiConsumer<@Nullable MemberSession, Optional<StoreException>> done) {
        long sentAt = quorum.loop.now();
        member.ask(new Command.OpenSession(ttl, label), new Member.Answer() {
            @Override
            public void answered(@Nullable Reply reply, @Nullable StoreException failure) {
                if (reply instanceof Reply.SessionOpened opened) {
                    MemberSession there = new MemberSession(member, opened.session(), sentAt);
                    there.renewedAt = sentAt;
                    quorum.markers.verify(there, round, unfit -> done.accept(there, unfit));
                } else {
                    round.failed(member.index);
                    done.accept(
                            null,
                            Optional.of(
                                    failure == null
                                            ? quorum.unavailable(
                                                    StoreException.Effect.NONE, "A session is open", List.of())
                                            : failure));
                }
            }

            @Override
            public void late(Reply reply) {
                if (reply instanceof Reply.SessionOpened opened) {
                    // It is no longer needed, and would otherwise last for one ttl.
                    member.ask(new Command.CloseSession(opened.session()), (closed, failure) -> {});
                }
            }
        });
    }

    /** Opens the missing member sessions of a session, for later claims. */
    void reopen(QuorumSession session) {
        for (Member member : quorum.members) {
            int i = member.index;
            MemberSession there = session.at[i];
            if (session.isOver || session.isRetired || session.isOpening[i]) {
                continue;
            }
            if (there == null) {
                session.isOpening[i] = true;
                openAt(
                        member,
                        session.ttl,
                        MemberIds.label(session.label, session.nonce),
                        Markers.alone(quorum.members.size()),
                        (opened, unfit) -> opened(session, i, opened));
            } else if (!there.isVerified) {
                verify(session, there);
            }
        }
    }

    /** Adds a session that was opened at a member, if that succeeded; closes it if it is no longer needed. */
    static void opened(QuorumSession session, int i, @Nullable MemberSession opened) {
        session.isOpening[i] = false;
        if (opened == null) {
            return;
        }
        if (session.isOver || session.at[i] != null) {
            opened.close();
        } else {
            session.at[i] = opened;
        }
    }

    /** Determines for an existing member session whether the member may be trusted. */
    private void verify(QuorumSession session, MemberSession there) {
        int i = there.member.index;
        session.isOpening[i] = true;
        quorum.markers.verify(there, Markers.alone(quorum.members.size()), unfit -> session.isOpening[i] = false);
    }

    // ---- Sessions of other connections

    /** The session, even one that another connection opened if its id contains the member sessions; otherwise null. */
    @Nullable
    QuorumSession find(SessionId id) {
        QuorumSession known = quorum.sessions.get(id);
        return known != null ? known : adopt(id);
    }

    private @Nullable QuorumSession adopt(SessionId id) {
        Optional<List<Optional<SessionId>>> ids = MemberIds.members(id, quorum.members.size());
        if (ids.isEmpty()) {
            return null;
        }
        @Nullable MemberSession[] at = new @Nullable MemberSession[quorum.members.size()];
        for (Member member : quorum.members) {
            Optional<SessionId> there = ids.get().get(member.index);
            if (there.isPresent()) {
                at[member.index] = new MemberSession(member, there.get(), quorum.loop.now());
            }
        }
        // Its ttl is unknown; this value only controls retries and poll intervals.
        QuorumSession adopted = new QuorumSession(id, MemberIds.nonceOf(id), "", quorum.longestLease, at);
        adopted.isForeign = true;
        return adopted;
    }

    // ---- Ends

    /** Handles a member's reply that the session has ended there. */
    void endedAt(QuorumSession session, MemberSession there) {
        if (there.isOver) {
            return;
        }
        there.isOver = true;
        there.runDue();
        if (session.at[there.member.index] == there) {
            session.at[there.member.index] = null;
        }
        for (QuorumClaim claim : List.copyOf(session.claims.values())) {
            if (claim.isDetached()) {
                continue;
            }
            for (MemberHold hold : claim.repairs) {
                if (hold.session == there && hold.state == MemberHold.State.HELD) {
                    hold.state = MemberHold.State.NONE;
                }
            }
            QuorumClaim.Attempt attempt = claim.attempt;
            if (attempt != null) {
                attempt.endedAt(there);
            }
            for (MemberHold hold : List.copyOf(claim.holds)) {
                if (hold.session == there && hold.state == MemberHold.State.HELD) {
                    quorum.lost(hold);
                }
            }
        }
        if (!session.isOver && session.countLive() < quorum.majority()) {
            if (quorum.sessions.containsKey(session.id)) {
                // Before anything is ended, as for a lost claim: what members still have keeps other owners out.
                quorum.signal(new Signal.SessionEnded(session.id));
            }
            end(session);
        }
    }

    /** Ends the session here and at the members that still have it. */
    void end(QuorumSession session) {
        session.isOver = true;
        quorum.sessions.remove(session.id, session);
        for (MemberSession there : session.at) {
            if (there != null) {
                closeAt(session, there, () -> {});
            }
        }
        for (QuorumClaim claim : List.copyOf(session.claims.values())) {
            if (!claim.isDetached() || claim.state == QuorumClaim.State.WAITING) {
                quorum.drop(claim);
            }
        }
        session.claims.values().removeIf(claim -> claim.state != QuorumClaim.State.OVER);
    }

    void closeAt(QuorumSession session, MemberSession there, Runnable whenClosed) {
        quorum.settlement.sendUntilAnswered(
                session,
                there,
                new Command.CloseSession(there.id),
                () -> {
                    there.isOver = true;
                    there.runDue();
                    whenClosed.run();
                },
                0);
    }
}
