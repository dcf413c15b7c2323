package dev.holdfast.console;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.spi.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the console has seen of one name: its newest record, its last holds, and how much was waited for it in the last
 * minutes. Guarded by the {@link SeenStore}.
 */
final class SeenLock {

    static final int MAX_HOLDS = 50;
    static final int HEAT_MINUTES = 12;

    /** After a longer interval between two reads, what happened meanwhile is not judged. */
    private static final Duration MAX_GAP = Duration.ofMinutes(1);

    private final String name;
    private LockInfo info;
    private Instant readAt;
    private final Map<ClaimKey, Open> holds = new LinkedHashMap<>();
    private final Map<ClaimKey, Instant> waits = new LinkedHashMap<>();

    /** Since when threads with a hold wait for another name, by the id of the wait. */
    private Map<Long, Instant> stated = Map.of();

    private final Deque<SeenHold> ended = new ArrayDeque<>();
    private final long[] heatMillis = new long[HEAT_MINUTES];
    private long heatMinute;
    private @Nullable ClaimKey forced;

    /** Clients state how long they have waited; a longer wait is not believed. */
    private static final Duration MAX_STATED = Duration.ofDays(365);

    /** A hold that lasts. */
    private static final class Open {
        final Instant from;
        final Duration waited;
        final SeenLease lease;
        long token;
        int handOvers;

        Open(Kind kind, Instant from, Duration waited, long token) {
            lease = new SeenLease(kind == Kind.TASK);
            this.from = from;
            this.waited = waited;
            this.token = token;
        }
    }

    SeenLock(LockInfo first, Instant now) {
        name = first.name();
        info = first;
        readAt = now;
        heatMinute = now.getEpochSecond() / 60;
        readClaims(first, now);
    }

    /**
     * Takes over a newer record.
     *
     * @return the holds that ended since the last one
     */
    @CanIgnoreReturnValue
    List<SeenHold> update(LockInfo next, Instant now) {
        Duration gap = Duration.between(readAt, now);
        boolean isJudged = gap.compareTo(MAX_GAP) <= 0;
        turnHeat(now);
        if (isJudged && !standsBy()) {
            heatMillis[HEAT_MINUTES - 1] += info.waiting() * gap.toMillis();
        }
        List<SeenHold> endedNow = new ArrayList<>();
        for (LockInfo.Holder holder : info.holders()) {
            ClaimKey key = ClaimKey.of(holder);
            if (next.holders().stream().noneMatch(other -> ClaimKey.of(other).equals(key))) {
                Open open = holds.remove(key);
                // A long list of holders may be cut off: its holds have not ended.
                if (open != null && isJudged && next.holders().size() >= next.holding()) {
                    endedNow.add(end(holder, key, open, now));
                }
            }
        }
        endedNow.forEach(this::remember);
        readClaims(next, now);
        info = next;
        readAt = now;
        return endedNow;
    }

    private SeenHold end(LockInfo.Holder holder, ClaimKey key, Open open, Instant now) {
        SeenHold.End end = key.equals(forced)
                ? SeenHold.End.FORCED
                : open.lease.state() == SeenLease.State.DRAINING && open.lease.endsBy(now)
                        ? SeenHold.End.EXPIRED
                        : SeenHold.End.RELEASED;
        if (end == SeenHold.End.FORCED) {
            forced = null;
        }
        return new SeenHold(holder.label(), open.token, open.from, now, open.waited, end, open.handOvers);
    }

    private void remember(SeenHold hold) {
        if (ended.size() == MAX_HOLDS) {
            ended.removeFirst();
        }
        ended.addLast(hold);
    }

    /** Forgets the oldest holds beyond a number. */
    void keepHolds(int most) {
        while (ended.size() > most) {
            ended.removeFirst();
        }
    }

    private void readClaims(LockInfo next, Instant now) {
        Map<Long, Instant> nowStated = new LinkedHashMap<>();
        for (LockInfo.Holder holder : next.holders()) {
            for (LockInfo.Wait wait : holder.waits()) {
                Duration waited = wait.waited().compareTo(MAX_STATED) < 0 ? wait.waited() : MAX_STATED;
                nowStated.put(wait.id(), stated.getOrDefault(wait.id(), now.minus(waited)));
            }
            ClaimKey key = ClaimKey.of(holder);
            Open open = holds.get(key);
            if (open == null) {
                Instant queued = waits.get(key);
                Instant from =
                        holder.since().filter(since -> since.isBefore(now)).orElse(now);
                Duration waited = queued == null ? Duration.ZERO : Duration.between(queued, from);
                open = new Open(next.kind(), from, waited.isNegative() ? Duration.ZERO : waited, holder.token());
                holds.put(key, open);
            } else if (open.token != holder.token()) {
                open.token = holder.token();
                open.handOvers++;
            }
            open.lease.read(holder.leaseLeft(), holder.sessionTtl(), now);
        }
        stated = nowStated;
        Map<ClaimKey, Instant> before = Map.copyOf(waits);
        waits.clear();
        for (LockInfo.Waiter waiter : next.waiters()) {
            ClaimKey key = ClaimKey.of(waiter);
            waits.put(key, before.getOrDefault(key, now.minus(waiter.waited().orElse(Duration.ZERO))));
        }
    }

    /** The hold with a token is about to be ended by this console; with 0, none is. */
    void force(long token) {
        forced = null;
        for (LockInfo.Holder holder : info.holders()) {
            if (token != 0 && holder.token() == token) {
                forced = ClaimKey.of(holder);
            }
        }
    }

    private void turnHeat(Instant now) {
        long minute = now.getEpochSecond() / 60;
        for (long turned = heatMinute; turned < minute && turned < heatMinute + HEAT_MINUTES; turned++) {
            System.arraycopy(heatMillis, 1, heatMillis, 0, HEAT_MINUTES - 1);
            heatMillis[HEAT_MINUTES - 1] = 0;
        }
        heatMinute = Math.max(heatMinute, minute);
    }

    String name() {
        return name;
    }

    LockInfo info() {
        return info;
    }

    Instant readAt() {
        return readAt;
    }

    List<SeenHold> ended() {
        return List.copyOf(ended);
    }

    /** Candidates of elections and threads at latches stand by: they don't count as waiting. */
    boolean standsBy() {
        return info.kind() == Kind.ELECTION || info.kind() == Kind.LATCH;
    }

    /** The number of claims that wait, apart from those that stand by. */
    long waiting() {
        return standsBy() ? 0 : info.waiting();
    }

    /** Seconds waited by all claims together, in each of the last minutes; the last one is not over yet. */
    List<Long> heat(Instant now) {
        turnHeat(now);
        List<Long> seconds = new ArrayList<>(HEAT_MINUTES);
        for (long millis : heatMillis) {
            seconds.add(millis / 1_000);
        }
        return seconds;
    }

    Instant since(LockInfo.Holder holder) {
        Open open = holds.get(ClaimKey.of(holder));
        return open == null ? readAt : open.from;
    }

    Duration waited(LockInfo.Holder holder) {
        Open open = holds.get(ClaimKey.of(holder));
        return open == null ? Duration.ZERO : open.waited;
    }

    SeenLease lease(LockInfo.Holder holder) {
        Open open = holds.get(ClaimKey.of(holder));
        return open == null ? new SeenLease() : open.lease;
    }

    /** Since when a claim waits; where the store does not know, as far as this console has seen it. */
    Instant since(LockInfo.Waiter waiter) {
        return waits.getOrDefault(ClaimKey.of(waiter), readAt);
    }

    /** Since when a thread that holds this waits for another name. */
    Instant since(LockInfo.Wait wait) {
        return stated.getOrDefault(wait.id(), readAt);
    }

    /** Since when the lock is held by one of its present holders. */
    @Nullable
    Instant heldSince() {
        return info.holders().stream().map(this::since).min(Instant::compareTo).orElse(null);
    }

    /** Since when the claim waits that has waited longest; null if none does. */
    @Nullable
    Instant waitedSince() {
        return standsBy()
                ? null
                : info.waiters().stream()
                        .map(this::since)
                        .min(Instant::compareTo)
                        .orElse(null);
    }

    /** The median of the holds that were released; null before there are three. */
    @Nullable
    Duration usual() {
        List<Duration> lengths = ended.stream()
                .filter(hold -> hold.end() == SeenHold.End.RELEASED)
                .map(SeenHold::length)
                .sorted()
                .toList();
        return lengths.size() < 3 ? null : lengths.get(lengths.size() / 2);
    }
}
