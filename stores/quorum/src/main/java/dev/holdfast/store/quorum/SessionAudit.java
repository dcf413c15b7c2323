package dev.holdfast.store.quorum;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/*
 * Compares what the members record under a session with what this connection knows: losses at members are recorded, and
 * unknown claims are withdrawn. Then it lists the claims known here, page by page.
 */

/** The audit of a session. */
final class SessionAudit {

    private static final int PAGE = 500;

    private final Quorum quorum;
    private final QuorumSession session;
    private final Command.Audit command;
    private final CompletableFuture<Reply> future;
    private final List<String> failures = new ArrayList<>();

    /** The holds at the start of the audit. */
    private final Set<MemberHold> expected = new HashSet<>();

    private int pending;
    private int answered;

    private SessionAudit(Quorum quorum, QuorumSession session, Command.Audit command, CompletableFuture<Reply> future) {
        this.quorum = quorum;
        this.session = session;
        this.command = command;
        this.future = future;
    }

    static void audit(Quorum quorum, QuorumSession session, Command.Audit command, CompletableFuture<Reply> future) {
        SessionAudit audit = new SessionAudit(quorum, session, command, future);
        if (session.isForeign) {
            audit.askForeign();
        } else if (command.cursor().isPresent()) {
            audit.list(List.copyOf(session.claims.values()));
        } else {
            audit.askMembers();
        }
    }

    private void askForeign() {
        ForeignClaims.claims(quorum, session, (claims, failure) -> {
            if (failure != null) {
                future.completeExceptionally(failure);
                return;
            }
            List<QuorumClaim> all = new ArrayList<>(claims);
            session.claims.values().stream()
                    .filter(claim -> claims.stream().noneMatch(other -> other.ref.equals(claim.ref)))
                    .forEach(all::add);
            list(all);
        });
    }

    private void askMembers() {
        for (QuorumClaim claim : session.claims.values()) {
            claim.holds.stream().filter(MemberHold::isHeld).forEach(expected::add);
        }
        for (MemberSession there : session.at) {
            if (there != null) {
                pending++;
                ask(there, Optional.empty(), new HashSet<>());
            }
        }
        quorum.loop.post(this::finish);
    }

    private void ask(MemberSession there, Optional<String> cursor, Set<ClaimRef> present) {
        there.member.ask(new Command.Audit(there.id, cursor, PAGE), (reply, failure) -> {
            if (reply instanceof Reply.Audited page) {
                present.addAll(page.granted());
                if (page.cursor().isPresent()) {
                    ask(there, page.cursor(), present);
                    return;
                }
                answered++;
                compare(there, present);
            } else {
                failures.add(there.member + ": " + (failure == null ? reply : failure.getMessage()));
            }
            pending--;
            quorum.loop.post(this::finish);
        });
    }

    private void compare(MemberSession there, Set<ClaimRef> present) {
        Set<ClaimRef> known = new HashSet<>();
        for (QuorumClaim claim : List.copyOf(session.claims.values())) {
            claim.ending.forEach(hold -> known.add(hold.ref));
            claim.repairs.forEach(hold -> known.add(hold.ref));
            for (MemberHold hold : List.copyOf(claim.holds)) {
                known.add(hold.ref);
                if (hold.session == there && expected.contains(hold) && !present.contains(hold.ref)) {
                    quorum.loseIfHeld(hold);
                }
            }
            if (claim.attempt != null) {
                claim.attempt.refs().forEach(known::add);
            }
        }
        for (ClaimRef ref : present) {
            if (!known.contains(ref) && !ref.resource().equals(Markers.NAME) && !session.isOver) {
                // It was ended during the audit, or a duplicated request made it.
                there.member.ask(new Command.Withdraw(ref, Sending.REPEAT), (reply, failure) -> {});
            }
        }
    }

    private void finish() {
        if (pending != 0 || future.isDone()) {
            return;
        }
        pending = -1;
        if (answered < quorum.majority()) {
            future.completeExceptionally(
                    quorum.unavailable(Effect.NONE, "The holds of a session were reported", failures));
        } else {
            list(List.copyOf(session.claims.values()));
        }
    }

    private void list(List<QuorumClaim> claims) {
        long after = command.cursor().map(Long::parseLong).orElse(0L);
        List<ClaimRef> grants = new ArrayList<>();
        List<ClaimRef> waiting = new ArrayList<>();
        long last = after;
        for (QuorumClaim claim : claims) {
            if (claim.number <= after || claim.state == QuorumClaim.State.OVER || isOnlyTried(claim)) {
                continue;
            }
            if (grants.size() + waiting.size() == command.limit()) {
                future.complete(new Reply.Audited(grants, waiting, Optional.of(Long.toString(last))));
                return;
            }
            if (claim.state == QuorumClaim.State.HELD) {
                grants.add(claim.ref);
            } else if (claim.holds.isEmpty()) {
                waiting.add(claim.ref);
            }
            last = claim.number;
        }
        future.complete(new Reply.Audited(grants, waiting, Optional.empty()));
    }

    private static boolean isOnlyTried(QuorumClaim claim) {
        Command.Acquire request = claim.request;
        return claim.state == QuorumClaim.State.WAITING && request != null && request.waiting() == Command.Waiting.TRY;
    }
}
