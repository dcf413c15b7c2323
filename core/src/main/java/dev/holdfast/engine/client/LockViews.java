package dev.holdfast.engine.client;

import dev.holdfast.admin.LockInfo;
import dev.holdfast.engine.deadlock.WaitLine;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.StoreTraits.TokenSource;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Tokens;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Converts the records of a store for people and tools.
 *
 * @param tokens the source of the store's tokens: those that follow its clock show the time of a grant
 * @param wallMillis the wall clock, only used to drop impossible dates
 */
public record LockViews(TokenSource tokens, LongSupplier wallMillis) {

    /** The greatest plausible difference between the store's clock and this machine's. */
    private static final long MOST_AHEAD_MILLIS = TimeUnit.DAYS.toMillis(1);

    /** The beginning of 2020. Not parsed: the first use of a date format takes long. */
    private static final long EARLIEST_MILLIS = 1_577_836_800_000L;

    /** A record, with the holders that are in it. */
    public LockInfo of(ResourceInfo info) {
        return of(info, info.holders());
    }

    /** A record, with the holders of several pages. */
    public LockInfo of(ResourceInfo info, List<Party> holders) {
        return new LockInfo(
                info.name().value(),
                info.spec().kind(),
                info.spec().order(),
                info.spec().capacity(),
                holders.stream().map(this::holder).toList(),
                info.holding(),
                info.usedCapacity(),
                info.waiters().stream().map(LockViews::waiter).toList(),
                info.waiting(),
                info.lastToken());
    }

    /** A holder. */
    public LockInfo.Holder holder(Party party) {
        TokenBlock block = party.tokens().orElse(null);
        return new LockInfo.Holder(
                party.label(),
                party.claim().session().value(),
                party.claim().claim(),
                party.weight(),
                block == null ? 0 : block.first(),
                block == null ? 0 : block.last(),
                block == null ? null : since(block.first()),
                left(party),
                party.ttl(),
                party.message(),
                party.waits().stream().flatMap(LockViews::wait).toList());
    }

    /** Nothing if it has the format of another version of the program. */
    private static Stream<LockInfo.Wait> wait(String text) {
        return WaitLine.parse(text).stream()
                .map(line -> new LockInfo.Wait(
                        line.id(),
                        line.awaits(),
                        line.blocking() != WaitLine.Blocking.WRITERS,
                        line.isWriteHold(),
                        line.token(),
                        line.thread(),
                        Duration.ofMillis(Math.max(0, line.waitedMillis())),
                        line.acks()));
    }

    private static LockInfo.Waiter waiter(Party party) {
        return new LockInfo.Waiter(
                party.label(),
                party.claim().session().value(),
                party.claim().claim(),
                party.weight(),
                left(party),
                party.ttl(),
                party.waited().orElse(null));
    }

    private static Duration left(Party party) {
        return party.remaining().isNegative() ? Duration.ZERO : party.remaining();
    }

    private @Nullable Instant since(long token) {
        if (tokens != TokenSource.CLOCKED) {
            return null;
        }
        long millis = TimeUnit.MICROSECONDS.toMillis(Tokens.micros(token));
        // A counter that was raised is ahead of the clock, and a new one may start anywhere.
        boolean isPlausible = millis > EARLIEST_MILLIS && millis < wallMillis.getAsLong() + MOST_AHEAD_MILLIS;
        return isPlausible ? Instant.ofEpochSecond(TimeUnit.MILLISECONDS.toSeconds(millis)) : null;
    }
}
