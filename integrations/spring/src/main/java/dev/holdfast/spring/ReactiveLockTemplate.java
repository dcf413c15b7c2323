package dev.holdfast.spring;

import dev.holdfast.spring.execution.ReactiveExecution;
import java.util.Collection;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * Runs reactive work under locks, with the options of a {@link LockTemplate}. Needs Reactor.
 *
 * <p><b>Thread-safety:</b> immutable, may be shared.
 */
@SuppressWarnings("exports") // Only users of this class require Reactor, which is optional.
public final class ReactiveLockTemplate {

    private final LockTemplate template;

    /** Locks with the settings of a template. */
    public ReactiveLockTemplate(LockTemplate template) {
        this.template = template;
    }

    /** Runs work under a lock, see {@link #call(Collection, LockedWork)}. */
    public <T> Mono<T> call(String name, LockedWork<? extends Mono<T>, ?> work) {
        return call(List.of(name), work);
    }

    /**
     * Runs work under locks that belong to no thread. Each subscription acquires them, and releases them when the
     * result of the work has completed, failed or been cancelled.
     *
     * @param names at least one, in any order
     * @param work called on Reactor's bounded elastic scheduler, once for each subscription
     * @return the result of the work, delayed until the locks are released, or the exceptions of {@link
     *     LockTemplate#call(Collection, LockedWork)}
     */
    @SuppressWarnings("unchecked") // It emits only what the work emits.
    public <T> Mono<T> call(Collection<String> names, LockedWork<? extends Mono<T>, ?> work) {
        return (Mono<T>) Mono.from(ReactiveExecution.publisher(
                template.request(names),
                work,
                failure -> {
                    throw failure;
                },
                template.lossEvents()));
    }
}
