package dev.holdfast.store.quorum;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * A member that comes back empty has forgotten its grants, and with another member it could make a second majority. So
 * each member carries a marker: a claim that is held, detached, for a hundred years. If the marker is missing, the
 * member lost its data, unless the quorum is new. The client that notices this makes a new marker, and the member
 * counts again when that is as old as the longest possible lease.
 *
 * The marker is checked once for each session at a member, after that was opened: while the session lives the data
 * can't have been lost. A new marker is made under that session, so that a delayed request, after another loss, has no
 * effect.
 *
 * If all members answer and none has a marker, the quorum is new, and all are trusted at once.
 */

/** The members' markers, which show whether a member may be trusted. */
final class Markers {

    /** A name that no program would choose; inspections hide it. */
    static final ResourceName NAME = new ResourceName("\u0001holdfast\u0001quorum\u0001member");

    private static final Logger log = LoggerFactory.getLogger(Markers.class);

    private static final long FOUNDED = 1L << 61;
    private static final int SIZE_SHIFT = 57;
    private static final int LEASE_BITS = 32;

    private enum Seen {
        NOT_YET,
        MARKED,
        EMPTY,
        FAILED
    }

    /** The markers seen while a client's session is opened at all members. */
    static final class Round {
        private final Seen[] seen;
        private final List<Runnable> waiting = new ArrayList<>();

        Round(int members) {
            seen = new Seen[members];
            Arrays.fill(seen, Seen.NOT_YET);
        }

        /** Records that a member could not be asked. */
        void failed(int index) {
            note(index, Seen.FAILED);
        }

        private void note(int index, Seen what) {
            seen[index] = what;
            if (has(Seen.MARKED) || !has(Seen.NOT_YET)) {
                List<Runnable> due = List.copyOf(waiting);
                waiting.clear();
                due.forEach(Runnable::run);
            }
        }

        private boolean has(Seen what) {
            return Arrays.asList(seen).contains(what);
        }

        private void whenKnown(int index, Runnable action) {
            waiting.add(action);
            note(index, Seen.EMPTY);
        }
    }

    private final Quorum quorum;

    /** The last marker seen at each member, by its index. */
    private ClaimRef[] marks = new ClaimRef[0];

    Markers(Quorum quorum) {
        this.quorum = quorum;
    }

    void members(int count) {
        marks = new ClaimRef[count];
        Arrays.fill(marks, new ClaimRef(NAME, new SessionId("-"), 1));
    }

    /** Why a member does not count at present. */
    static String why(MemberSession there, long now) {
        return there.isVerified
                ? "it has lost its data and is kept out for another "
                        + DurationFormat.format(Duration.ofNanos(there.trustedFrom - now))
                : "it is unknown whether it has kept its data";
    }

    /**
     * Checks whether a member has kept its data.
     *
     * @param round of the opening; for a member checked alone, others of its session are known to be marked
     * @param done called when that is known or can't be determined now, with what makes the member unfit, if anything
     */
    void verify(MemberSession there, Round round, Consumer<Optional<StoreException>> done) {
        Command inspect = new Command.Inspect(NAME.value(), Optional.empty(), 1, Command.Inspect.Scope.NAME);
        long sentAt = quorum.loop.now();
        there.member.ask(inspect, (reply, failure) -> {
            if (!(reply instanceof Reply.Inspected found)) {
                round.failed(there.member.index);
                done.accept(Optional.of(failure == null ? unexpected(there, reply) : failure));
            } else if (!found.resources().isEmpty()
                    && !found.resources().get(0).holders().isEmpty()) {
                round.note(there.member.index, Seen.MARKED);
                done.accept(read(there, found.resources().get(0).holders().get(0), sentAt));
            } else {
                round.whenKnown(there.member.index, () -> mark(there, round, done));
            }
        });
    }

    private Optional<StoreException> read(MemberSession there, ResourceInfo.Party marker, long sentAt) {
        long number = marker.claim().claim();
        int index = there.member.index;
        marks[index] = marker.claim();
        long members = (number & ~FOUNDED) >> SIZE_SHIFT;
        long lease = number & (1L << LEASE_BITS) - 1;
        if (members != quorum.members.size()) {
            return unfit(there, "it belongs to a quorum of " + members + " members");
        } else if (lease != leaseSeconds()) {
            return unfit(
                    there,
                    "other clients use this quorum with a longest lease of "
                            + DurationFormat.format(Duration.ofSeconds(lease)));
        }
        for (int i = 0; i < marks.length; i++) {
            if (i != index && marks[i].equals(marker.claim())) {
                return unfit(there, "it is the same store as " + quorum.members.get(i));
            }
        }
        there.trustedFrom = sentAt + keptOutFor(marker).toNanos();
        there.isVerified = true;
        return Optional.empty();
    }

    /** How long a member is still kept out, by the age of its marker. */
    Duration keptOutFor(ResourceInfo.Party marker) {
        if ((marker.claim().claim() & FOUNDED) != 0) {
            return Duration.ZERO;
        }
        long age = Command.MAX_DURATION.toNanos() - marker.remaining().toNanos();
        long left = quorum.rules.keptOut(quorum.longestLease).toNanos() - Math.max(0, age);
        return Duration.ofNanos(Math.max(0, left));
    }

    private Optional<StoreException> unfit(MemberSession there, String why) {
        return Optional.of(Quorum.failed(
                Reason.DENIED,
                Effect.NONE,
                there.member + " does not belong to this quorum: " + why
                        + ". All clients must set the same members and the same longest lease."));
    }

    private void mark(MemberSession there, Round round, Consumer<Optional<StoreException>> done) {
        boolean isLoss = round.has(Seen.MARKED);
        if (!isLoss && round.has(Seen.FAILED)) {
            done.accept(Optional.of(Quorum.failed(
                    Reason.UNAVAILABLE,
                    Effect.NONE,
                    "the quorum was never used, or has lost all data; it starts when all members answer")));
            return;
        }
        boolean isFounding = !isLoss;
        Acquire command = new Acquire(
                new ClaimRef(NAME, there.id, marker(isFounding)),
                there.epoch,
                Sending.FIRST,
                ResourceSpec.MUTEX,
                1,
                Lease.detached(Command.MAX_DURATION),
                Waiting.TRY,
                1);
        there.member.ask(command, (reply, failure) -> {
            if (reply instanceof Reply.Granted && isLoss) {
                log.warn(
                        "member={} has come back without its data; it is kept out for {} and then "
                                + "regains what a majority has kept",
                        there.member,
                        quorum.rules.keptOut(quorum.longestLease));
            }
            if (reply instanceof Reply.Granted || reply instanceof Reply.Refused) {
                // Reads it again, because another client may have been first.
                verify(there, marked(round), done);
            } else {
                done.accept(Optional.of(failure == null ? unexpected(there, reply) : failure));
            }
        });
    }

    /** If the member is empty again, it has lost its data meanwhile. */
    private static Round marked(Round round) {
        Round again = new Round(round.seen.length);
        Arrays.fill(again.seen, Seen.MARKED);
        return again;
    }

    /** A round for a member that is checked alone. */
    static Round alone(int members) {
        return marked(new Round(members));
    }

    /**
     * The number of a marker encodes how many members there are, the longest lease, whether all started together, and
     * random bits that distinguish markers.
     */
    private long marker(boolean isFounding) {
        long chance = quorum.environment.randomLong() >>> (Long.SIZE - (SIZE_SHIFT - LEASE_BITS));
        long number = (long) quorum.members.size() << SIZE_SHIFT | chance << LEASE_BITS | leaseSeconds();
        return isFounding ? number | FOUNDED : number;
    }

    private long leaseSeconds() {
        return quorum.longestLease.plusMillis(999).toSeconds();
    }

    private static StoreException unexpected(MemberSession there, @Nullable Reply reply) {
        return Quorum.failed(Reason.UNAVAILABLE, Effect.NONE, there.member + " answered " + reply);
    }
}
