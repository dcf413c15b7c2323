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
@SuppressWarnings("exports") // Reactor is for those to require who use this: to others it need not be there.
public final class ReactiveLockTemplate {

    private final LockTemplate template;

    /** Locks as a template does. */
    public ReactiveLockTemplate(LockTemplate template) {
        this.template = template;
    }

    /** Does work under a lock, as {@link #call(Collection, LockedWork)}. */
    public <T> Mono<T> call(String name, LockedWork<? extends Mono<T>, ?> work) {
        return call(List.of(name), work);
    }

    /**
     * Does work under locks that each subscription acquires anew, that belong to no thread, and that are released when
     * what the work returns has completed, failed or been cancelled.
     *
     * @param names at least one, in any order
     * @param work called on Reactor's bounded elastic scheduler, once for each subscription
     * @return what the work returns, delayed until the locks are released, or the failures that {@link
     *     LockTemplate#call(Collection, LockedWork)} tells
     */
    @SuppressWarnings("unchecked") // It tells what the work tells, and nothing else.
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
