package dev.holdfast.spring.advice;

import dev.holdfast.spring.ScheduledLock;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lets one process at a time run methods with {@link ScheduledLock}. */
final class ScheduledLockAdvisor extends AnnotationAdvisor<ScheduledLock> {

    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(ScheduledLockAdvisor.class);

    private final transient Map<String, String> methodsByJob = new ConcurrentHashMap<>();

    ScheduledLockAdvisor() {
        super(ScheduledLock.class);
    }

    @Override
    GuardedMethod read(AnnotatedMethod where, ScheduledLock values) {
        TaskMethod task = new TaskMethod(where, values, this::publish);
        String other = methodsByJob.putIfAbsent(task.job(), where.name());
        if (other != null && !other.equals(where.name())) {
            LOG.warn(
                    "@ScheduledLock on {} and on {} have the same name '{}', so one is skipped while the other runs",
                    other,
                    where.name(),
                    task.job());
        }
        return task;
    }
}
