package dev.holdfast;

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
 * @param next what the next page is asked for by; empty after the last
 */
public record LockPage(List<LockInfo> locks, Optional<LockQuery> next) {

    /** Copies the list. */
    public LockPage {
        locks = List.copyOf(locks);
    }
}
