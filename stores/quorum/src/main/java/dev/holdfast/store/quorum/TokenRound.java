package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.TokenBlock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/*
 * Each member has its own counter, so the greatest token of a majority is not enough: with A at 10 and B and C at 1, a
 * holder of A and B would get 11, and a later holder of B and C would get 3. A block may be issued only when a majority
 * of all members stands at its end or above. Every later majority then includes one of these, which grants above it.
 *
 * So a block starts at the highest first token of the members that hold the claim, and ends where a majority of them
 * stands. If that is before its start, the members that lag are raised first.
 */

/** Finds a block of tokens for a claim, and raises members where necessary. */
final class TokenRound {

    private static final int MAX_TRIES = 4;

    private final Quorum quorum;

    /** The claim's holds at members; changes during the round. */
    private final List<MemberHold> holds;

    /** The block starts above it, and so do those of the members that count. */
    private final long floor;

    private final int want;
    private final Consumer<@Nullable TokenBlock> done;
    private final Map<MemberHold, Integer> tries = new HashMap<>();
    private long first;
    private int pending;
    private boolean isOver;

    TokenRound(Quorum quorum, List<MemberHold> holds, long floor, int want, Consumer<@Nullable TokenBlock> done) {
        this.quorum = quorum;
        this.holds = holds;
        this.floor = floor;
        this.want = want;
        this.done = done;
    }

    void begin() {
        proceed();
    }

    private void proceed() {
        if (isOver) {
            return;
        }
        List<MemberHold> fresh = holds.stream()
                .filter(hold -> hold.isHeld() && hold.first() > floor)
                .toList();
        if (fresh.size() < quorum.majority(holds.size())) {
            for (MemberHold hold : List.copyOf(holds)) {
                if (hold.isHeld() && hold.first() <= floor) {
                    raise(hold, floor);
                }
            }
        } else {
            long highest = fresh.stream().mapToLong(MemberHold::first).max().orElse(0);
            first = first == 0 ? highest : first;
            long end = quorum.rules.writesTokensBack()
                    ? quorum.reachedByMajority(holds, MemberHold::last, 0)
                    : Long.MAX_VALUE;
            if (end >= first) {
                isOver = true;
                done.accept(new TokenBlock(first, Math.min(Math.min(end, highestLast()), first + want - 1)));
                return;
            }
            for (MemberHold hold : List.copyOf(holds)) {
                if (hold.isHeld() && hold.last() < first) {
                    raise(hold, first - 1);
                }
            }
        }
        if (pending == 0) {
            isOver = true;
            done.accept(null);
        }
    }

    private long highestLast() {
        return holds.stream()
                .filter(MemberHold::isHeld)
                .mapToLong(MemberHold::last)
                .max()
                .orElse(first);
    }

    /** Raises a member above this number. */
    private void raise(MemberHold hold, long atLeast) {
        int before = tries.getOrDefault(hold, 0);
        if (before >= MAX_TRIES || before < 0) {
            return;
        }
        tries.put(hold, -before - 1);
        pending++;
        int tokens = (int) Math.min(TokenBlock.MAX_SIZE, want + quorum.allowance());
        Command command = new Command.Advance(hold.ref, hold.last(), tokens, atLeast);
        hold.member().ask(command, (reply, failure) -> {
            pending--;
            tries.put(hold, reply == null ? MAX_TRIES : before + 1);
            if (reply instanceof Reply.Advanced advanced) {
                if (advanced.tokens().last() >= hold.last()) {
                    hold.tokens = advanced.tokens();
                }
            } else if (reply instanceof Reply.Absent) {
                quorum.lost(hold);
            } else {
                tries.put(hold, MAX_TRIES);
            }
            quorum.loop.post(this::proceed);
        });
    }
}
