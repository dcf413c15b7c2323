package dev.holdfast.spring.advice;

import dev.holdfast.spring.Locked;
import dev.holdfast.spring.execution.LockedExecution;

/** Runs methods with {@link Locked} under their locks. */
final class LockedAdvisor extends AnnotationAdvisor<Locked> {

    private static final long serialVersionUID = 1L;

    private final transient LockedExecution execution = new LockedExecution(this::publish);

    LockedAdvisor() {
        super(Locked.class);
    }

    @Override
    GuardedMethod read(AnnotatedMethod where, Locked values) {
        return new LockedMethod(where, values, execution, this::publish);
    }
}
