package dev.holdfast.store.register.client;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.machine.StateView;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the rounds of a lane have learnt of other clients that write the same record: who they are, how long their
 * writes take, and whether it is worth competing with them. Only speed depends on it.
 *
 * <p>Belongs to the present round of the lane; each round happens before the next. Not thread-safe, except for the
 * notices.
 */
final class Contention {

    private static final int CONTENDED_ROUNDS = 8;

    /** With this many parties, claims and releases collide so often that announcing the claims is cheaper. */
    private static final int MANY_PARTIES = 4;

    /** With this many parties, all of them know that the lane is crowded. */
    private static final int SURE_CROWD = 8;

    /** The most sessions that are notified of an announced claim: half of them hold, half of them wait. */
    private static final int MOST_WRITERS = 4;

    /** A client that held or waited this recently is likely to return. */
    private static final long WRITER_RETENTION_NANOS = 1_000_000_000;

    /** Further lost claims in a row do not lengthen the time without competition. */
    private static final int MOST_LOST_IN_ROW = 4;

    /** After a lost claim, claims don't compete for this many rounds, and for twice as many after each further one. */
    private static final int OUTPACED_ROUNDS = 16;

    /** After a holder has kept the resource for long, claims compete for this many rounds. */
    private static final int SLOW_ROUNDS = 16;

    private final Context context;

    /** The announced claims of other clients, of which this one was notified. */
    private final ArrivalNotices notices = new ArrivalNotices();

    /** The sessions of other clients that write next, with the time at which each was last seen, the latest last. */
    private final Map<SessionId, Long> writers = new LinkedHashMap<>();

    /** How many hold or wait. */
    private int parties;

    /** How long a write takes that does not queue behind others at the server. */
    private long writeNanos;

    /** How long a holder takes to add an announced claim to the record. */
    private long intakeNanos;

    /** The remaining rounds in which claims compete although others announce theirs. */
    private int slowRounds;

    /** The remaining rounds in which others are expected to write at the same time. */
    private int contendedRounds;

    /** The remaining rounds in which claims are announced instead of competing with the writes of others. */
    private int outpacedRounds;

    /** How many claims in a row have lost to the writes of others. */
    private int lostInRow;

    Contention(Context context) {
        this.context = context;
    }

    ArrivalNotices notices() {
        return notices;
    }

    /** Notes how long a write took. If many queue at the server, the fastest shows how long one takes by itself. */
    void wrote(long nanos) {
        long slower = writeNanos + writeNanos / 16;
        writeNanos = writeNanos == 0 ? nanos : Math.min(nanos, slower);
    }

    long writeNanos() {
        return writeNanos;
    }

    /**
     * Notes after what time this client saw that a holder had added its announced claims. In a crowd they may have been
     * added long before that, so the shortest time counts. Otherwise the longest does, because it shows how far away
     * the others are.
     */
    void intakeTook(long nanos) {
        long change = intakeNanos() / 16;
        intakeNanos = isCrowded() ? Math.min(nanos, intakeNanos() + change) : Math.max(nanos, intakeNanos() - change);
    }

    /**
     * Notes that announced claims were not added, because no one wrote the record.
     *
     * @param isLong whether that was for longer than a distant holder needs
     */
    void keptWaiting(long nanos, boolean isLong) {
        intakeTook(nanos);
        competed(false);
        slowRounds = isLong ? SLOW_ROUNDS : slowRounds;
    }

    long intakeNanos() {
        return intakeNanos == 0 ? 2 * writeNanos : intakeNanos;
    }

    /**
     * Notes whether a round met writes or arrivals of others: if many hold or wait, the following rounds are likely to.
     */
    void met(boolean others, int holdOrWait) {
        boolean isContended = others && holdOrWait >= MANY_PARTIES;
        contendedRounds = isContended ? CONTENDED_ROUNDS : Math.max(0, contendedRounds - 1);
        outpacedRounds = Math.max(0, outpacedRounds - 1);
        slowRounds = Math.max(0, slowRounds - 1);
    }

    /**
     * Notes whether a claim has lost to the writes of others. A client that is too far away to win loses again and
     * again, and competes again after twice as many rounds each time.
     */
    void competed(boolean hasLost) {
        lostInRow = hasLost ? Math.min(lostInRow + 1, MOST_LOST_IN_ROW) : 0;
        outpacedRounds = hasLost ? OUTPACED_ROUNDS << (lostInRow - 1) : 0;
        slowRounds = hasLost ? 0 : slowRounds;
    }

    /**
     * Whether other clients are likely to write during a round, and to win. A client announces its claims if it has
     * lost to others, or if others announce theirs: the holder's next write adds all of them, and a competing claim
     * would make that write fail.
     */
    boolean isLikely() {
        return isCrowded()
                || outpacedRounds > 0
                || (context.rules().makesWay() && slowRounds == 0 && notices.areRecent(context.now()));
    }

    /** Whether there are so many other clients that each reads the arrivals before it writes. */
    boolean isCrowded() {
        return contendedRounds > 0;
    }

    /**
     * Notes which clients write next: those of the holders and of the first waiters. Clients that held or waited a
     * moment ago are likely to return.
     */
    void learnWriters(StateView view) {
        long now = context.now();
        learnWriters(view.waiting(), now);
        learnWriters(view.holders(), now);
        writers.values().removeIf(seen -> now - seen > WRITER_RETENTION_NANOS);
        while (writers.size() > MOST_WRITERS) {
            writers.remove(writers.keySet().iterator().next());
        }
        parties = view.parties();
    }

    private void learnWriters(List<ClaimRef> claims, long now) {
        int room = MOST_WRITERS / 2;
        for (int i = 0; i < claims.size() && room > 0; i++) {
            SessionId id = claims.get(i).session();
            if (!context.sessions().isOwn(id)) {
                writers.remove(id);
                writers.put(id, now);
                room--;
            }
        }
    }

    /** The sessions to notify of an announced claim: of the clients that write next, unless they read it anyway. */
    List<SessionId> toNotify() {
        boolean readIt = isCrowded() && parties >= SURE_CROWD && outpacedRounds == 0;
        return readIt || !context.rules().notifiesWriters() ? List.of() : List.copyOf(writers.keySet());
    }
}
