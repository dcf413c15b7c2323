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
 * @param locks the entries of the page, which may be empty even if it is not the last
 * @param damaged the names of the page whose records are damaged, which does not affect others
 * @param next the query of the next page; empty after the last
 */
public record LockPage(List<LockInfo> locks, List<DamagedLock> damaged, Optional<LockQuery> next) {

    /** Copies the lists. */
    public LockPage {
        locks = List.copyOf(locks);
        damaged = List.copyOf(damaged);
    }

    /** A page without damaged records. */
    public LockPage(List<LockInfo> locks, Optional<LockQuery> next) {
        this(locks, List.of(), next);
    }
}
