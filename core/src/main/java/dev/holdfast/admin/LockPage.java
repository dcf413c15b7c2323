package dev.holdfast.admin;

import java.util.List;
import java.util.Optional;

/**
 * A page of an inspection. Immutable.
 *
 * <pre>{@code
 * for (Optional<LockQuery> next = Optional.of(LockQuery.all()); next.isPresent(); ) {
 *     LockPage page = holdfast.inspect(next.get());
 *     page.locks().forEach(this::show);
 *     next = page.next();
 * }
 * }</pre>
 *
 * @param locks what the page tells; it may be empty and not be the last
 * @param damaged the names of the page whose records are damaged, which keeps no other from being told
 * @param next what the next page is asked for by; empty after the last
 */
public record LockPage(List<LockInfo> locks, List<DamagedLock> damaged, Optional<LockQuery> next) {

    /** Copies the lists. */
    public LockPage {
        locks = List.copyOf(locks);
        damaged = List.copyOf(damaged);
    }

    /** A page on which nothing is damaged. */
    public LockPage(List<LockInfo> locks, Optional<LockQuery> next) {
        this(locks, List.of(), next);
    }
}
