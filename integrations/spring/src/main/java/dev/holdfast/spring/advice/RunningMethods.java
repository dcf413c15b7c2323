package dev.holdfast.spring.advice;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextAware;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

/*
 * When the application stops, pools and schedulers wait for their tasks, and stop before the clients of locks close.
 * But nothing waits for tasks on virtual threads or on separate threads.
 */

/**
 * The annotated methods that are running. When the application stops, they keep their locks until they return, but no
 * longer than a shutdown phase may take. Thread-safe.
 */
final class RunningMethods implements SmartLifecycle, ApplicationContextAware {

    /** Stops after all beans that may still call methods, just before Spring Boot closes the clients. */
    private static final int PHASE = Integer.MAX_VALUE / 4 + 1;

    private final AtomicInteger count = new AtomicInteger();

    /** The callback that waits for the last method. */
    private final AtomicReference<@Nullable Runnable> waiting = new AtomicReference<>();

    private volatile boolean hasStarted;
    private @Nullable ConfigurableApplicationContext context;

    @Override
    public void setApplicationContext(ApplicationContext applicationContext) {
        context = (ConfigurableApplicationContext) applicationContext;
    }

    void begin() {
        count.incrementAndGet();
    }

    void end() {
        if (count.decrementAndGet() == 0) {
            proceed();
        }
    }

    private void proceed() {
        Runnable next = waiting.getAndSet(null);
        if (next != null) {
            next.run();
        }
    }

    @Override
    public void start() {
        hasStarted = true;
    }

    @Override
    public void stop() {
        hasStarted = false;
    }

    /** Does not block. A context that is stopped but not closed keeps its clients, and waits for nothing. */
    @Override
    public void stop(Runnable callback) {
        stop();
        waiting.set(callback);
        if (count.get() == 0 || context == null || !context.isClosed()) {
            proceed();
        }
    }

    @Override
    public boolean isRunning() {
        return hasStarted;
    }

    @Override
    public boolean isPauseable() {
        return false;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
