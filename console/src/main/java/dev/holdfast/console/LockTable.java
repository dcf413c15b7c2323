package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Locks as rows: filtered, sorted and cut to a page.
 *
 * @param total the number of rows on all pages
 * @param rows the rows of the page
 */
record LockTable(int total, List<SeenLock> rows) {

    /** Which locks are shown. */
    enum Show {
        ALL,
        WAITED,
        HELD
    }

    /** The columns to sort by. */
    enum Sort {
        NAME,
        HOLD,
        FOR,
        LEASE,
        WAIT,
        LONG,
        HEAT
    }

    /**
     * What is asked for.
     *
     * @param text part of a name, of a holder's or waiter's label, or of a message; empty for all
     * @param show the locks to include
     * @param sort the column to sort by
     * @param descending whether the largest comes first
     * @param offset how many rows precede the page
     * @param limit the most rows of the page
     */
    record Request(String text, Show show, Sort sort, boolean descending, int offset, int limit) {

        static Request of(ViewQuery query) {
            Sort sort = query.oneOf("sort", Sort.LONG);
            return new Request(
                    query.text("q", ""),
                    query.oneOf("show", Show.ALL),
                    sort,
                    query.flag("desc", true),
                    query.number("offset", 0, 0, SeenStore.MAX_NAMES),
                    query.number("limit", 100, 1, 500));
        }
    }

    static LockTable of(Collection<SeenLock> locks, Request request, Instant now) {
        String text = request.text().toLowerCase(Locale.ROOT);
        List<SeenLock> found = locks.stream()
                .filter(lock -> isShown(lock, request.show()))
                .filter(lock -> text.isEmpty() || matches(lock, text))
                .sorted(order(request, now))
                .toList();
        return new LockTable(
                found.size(),
                found.subList(
                        Math.min(request.offset(), found.size()),
                        Math.min(request.offset() + request.limit(), found.size())));
    }

    static boolean isShown(SeenLock lock, Show show) {
        return switch (show) {
            case ALL -> true;
            case WAITED -> lock.waiting() > 0;
            case HELD -> lock.info().isHeld();
        };
    }

    private static boolean matches(SeenLock lock, String text) {
        return contains(lock.name(), text)
                || lock.info().holders().stream()
                        .anyMatch(holder -> contains(holder.label(), text) || contains(holder.message(), text))
                || lock.info().waiters().stream().anyMatch(waiter -> contains(waiter.label(), text));
    }

    static boolean contains(String whole, String text) {
        return whole.toLowerCase(Locale.ROOT).contains(text);
    }

    private static Comparator<SeenLock> order(Request request, Instant now) {
        Comparator<SeenLock> column = switch (request.sort()) {
            case NAME -> Comparator.comparing(SeenLock::name);
            case HOLD -> Comparator.comparing(LockTable::holder);
            case FOR -> Comparator.comparing(lock -> since(lock.heldSince(), now));
            case LEASE -> Comparator.comparing(lock -> lease(lock, now));
            case WAIT -> Comparator.comparing(SeenLock::waiting);
            case LONG -> Comparator.comparing(lock -> since(lock.waitedSince(), now));
            case HEAT -> Comparator.comparing(lock -> lock.heat(now).get(SeenLock.HEAT_MINUTES - 2));
        };
        return (request.descending() ? column.reversed() : column)
                .thenComparing(
                        lock -> lock.info().waiting() > 0 ? 0 : lock.info().isHeld() ? 1 : 2)
                .thenComparing(SeenLock::name);
    }

    /** Free locks come last. */
    private static String holder(SeenLock lock) {
        List<LockInfo.Holder> holders = lock.info().holders();
        return holders.isEmpty() ? "\uffff" : holders.get(0).label();
    }

    private static Duration since(@Nullable Instant since, Instant now) {
        return since == null ? Duration.ofSeconds(-1) : Duration.between(since, now);
    }

    private static Duration lease(SeenLock lock, Instant now) {
        return lock.info().holders().stream()
                .map(holder -> lock.lease(holder).left(now))
                .min(Comparator.naturalOrder())
                .orElse(Duration.ofDays(36_500));
    }
}
