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
 * Only the store instance that issued tokens knows exactly which ones: members were asked for extra tokens, and a late
 * answer was not used. So this reports tokens that certainly belong to no other owner. As with every issued block, a
 * majority stands at their end, so every later owner has greater ones. And all earlier owners had lesser ones than some
 * majority started with, of which at least a part is among the members that answer. If too few of these are known to
 * determine the tokens, members must be raised first.
 */

/**
 * Finds the claims that members record under a session of another connection, or under an ended one: in particular
 * detached grants.
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

    /**
     * Passes on the claims that a majority holds and those that fewer members hold, or why they can't be determined.
     */
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
                memberDone();
                return;
            }
            List<ClaimRef> refs = page.granted().stream()
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
            memberDone();
        }
    }

    private void memberDone() {
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
            done.accept(List.of(), quorum.unavailable(Effect.NONE, "The holds of a session were reported", failures));
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

    /** Tokens that certainly belong only to this claim; null if there are none. */
    private @Nullable TokenBlock tokens(List<MemberHold> holds, long last) {
        long[] firsts = holds.stream().mapToLong(MemberHold::first).sorted().toArray();
        int certain = Math.max(1, firsts.length + quorum.majority() - quorum.members.size());
        if (firsts[firsts.length - certain] > last) {
            return null;
        }
        return new TokenBlock(Math.min(firsts[firsts.length - 1], last), last);
    }
}
