package dev.holdfast.store.quorum;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/*
 * Nobody but the store instance that gave them knows exactly which tokens were given: members were asked for some more,
 * and what one of them had did not count if its answer came late. So those are told that can be nobody else's: a
 * majority stands at the end of them, as of each block that is given, and so every owner to come has greater ones. And
 * all owners before had lesser ones than some majority began with, of which the members that answer are a part at the
 * least. If too few of these are known to say where that is, members must be raised first.
 */

/**
 * Finds what members record under a session of another connection, or of one that has ended: detached grants above all.
 */
final class ForeignClaims {

    private static final int PAGE = 500;

    private final Quorum quorum;
    private final QuorumSession session;
    private final BiConsumer<List<QuorumClaim>, @Nullable StoreException> done;
    private final Map<ClaimRef, QuorumClaim> found = new HashMap<>();
    private final List<String> failures = new ArrayList<>();
    private int pending;
    private int answered;

    private ForeignClaims(
            Quorum quorum, QuorumSession session, BiConsumer<List<QuorumClaim>, @Nullable StoreException> done) {
        this.quorum = quorum;
        this.session = session;
        this.done = done;
    }

    /** Tells the claims that a majority holds, and those of which members have less; or why it can't be told. */
    static void claims(
            Quorum quorum, QuorumSession session, BiConsumer<List<QuorumClaim>, @Nullable StoreException> done) {
        new ForeignClaims(quorum, session, done).begin();
    }

    private void begin() {
        for (MemberSession there : session.at) {
            if (there != null) {
                pending++;
                audit(there, Optional.empty());
            } else {
                answered++;
            }
        }
        quorum.loop.post(this::finish);
    }

    private void audit(MemberSession there, Optional<String> cursor) {
        there.member.ask(new Command.Audit(there.id, cursor, PAGE), (reply, failure) -> {
            if (!(reply instanceof Reply.Audited page)) {
                failures.add(there.member + ": " + (failure == null ? reply : failure.getMessage()));
                over();
                return;
            }
            List<ClaimRef> refs = page.held().stream()
                    .filter(ref -> !ref.resource().equals(Markers.NAME) && MemberIds.claimOf(ref.claim()) != 0)
                    .toList();
            if (refs.isEmpty()) {
                next(there, page.cursor());
            } else {
                poll(there, refs, page.cursor());
            }
        });
    }

    private void poll(MemberSession there, List<ClaimRef> refs, Optional<String> cursor) {
        long sentAt = quorum.loop.now();
        there.member.ask(new Command.Poll(refs), (reply, failure) -> {
            if (reply instanceof Reply.Polled polled && polled.states().size() == refs.size()) {
                for (int i = 0; i < refs.size(); i++) {
                    if (polled.states().get(i) instanceof Reply.Granted granted) {
                        note(there, refs.get(i), granted, sentAt);
                    }
                }
            }
            next(there, cursor);
        });
    }

    private void next(MemberSession there, Optional<String> cursor) {
        if (cursor.isPresent()) {
            audit(there, cursor);
        } else {
            answered++;
            over();
        }
    }

    private void over() {
        pending--;
        quorum.loop.post(this::finish);
    }

    private void note(MemberSession there, ClaimRef at, Reply.Granted granted, long sentAt) {
        ClaimRef ref = new ClaimRef(at.resource(), session.id, MemberIds.claimOf(at.claim()));
        Duration remaining = granted.remaining().orElse(Duration.ZERO);
        Lease lease = remaining.isZero() ? Lease.SESSION : Lease.detached(remaining);
        QuorumClaim claim =
                found.computeIfAbsent(ref, unused -> new QuorumClaim(session.nextNumber(), session, ref, lease, null));
        MemberHold hold = new MemberHold(claim, there, at, 0);
        hold.granted(granted, sentAt);
        claim.holds.add(hold);
    }

    private void finish() {
        if (pending != 0) {
            return;
        }
        pending = -1;
        if (answered < quorum.majority()) {
            done.accept(List.of(), quorum.unavailable(Effect.NONE, "What is held under a session is known", failures));
            return;
        }
        for (QuorumClaim claim : found.values()) {
            long last = quorum.reachedByMajority(claim.holds, MemberHold::last, 0);
            if (last > 0) {
                claim.state = QuorumClaim.State.HELD;
                claim.tokens = tokens(claim.holds, last);
            }
        }
        done.accept(List.copyOf(found.values()), null);
    }

    /** Tokens of a claim that no other owner had or can have; null if there are none for certain. */
    private @Nullable TokenBlock tokens(List<MemberHold> holds, long last) {
        long[] firsts = holds.stream().mapToLong(MemberHold::first).sorted().toArray();
        int certain = Math.max(1, firsts.length + quorum.majority() - quorum.members.size());
        if (firsts[firsts.length - certain] > last) {
            return null;
        }
        return new TokenBlock(Math.min(firsts[firsts.length - 1], last), last);
    }
}
