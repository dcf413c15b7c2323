package dev.holdfast.spring;

import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;

/** A store in memory, with a client of its own, and applications that share it. */
final class World implements AutoCloseable {

    final String uri = "memory:" + UUID.randomUUID();

    /** A client of another process, as it were. */
    final Holdfast other = Holdfast.connect(uri);

    private final List<AutoCloseable> open = new ArrayList<>();

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    static class Enabled {}

    /** Starts an application of these classes, with locks and one client. */
    AnnotationConfigApplicationContext start(Class<?>... classes) {
        return start(Map.of(), classes);
    }

    AnnotationConfigApplicationContext start(Map<String, Object> properties, Class<?>... classes) {
        AnnotationConfigApplicationContext context = unstarted(properties, classes);
        context.register(Enabled.class);
        context.registerBean("holdfast", Holdfast.class, () -> Holdfast.connect(uri));
        context.refresh();
        return context;
    }

    AnnotationConfigApplicationContext unstarted(Map<String, Object> properties, Class<?>... classes) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
        context.register(classes);
        open.add(context);
        return context;
    }

    /** Whether nobody has a lock, and nobody waits for it. */
    boolean isFree(String name) {
        return other.lock(name).tryAcquire().map(World::released).orElse(false);
    }

    private static boolean released(Hold hold) {
        hold.close();
        return true;
    }

    /** Waits until the calling thread has lost the innermost of its locks. */
    static void awaitLoss() {
        await().pollInSameThread().atMost(Duration.ofSeconds(60)).until(World::isLost);
    }

    private static boolean isLost() {
        try {
            return CurrentLocks.fencingToken() < 0;
        } catch (LockLostException e) {
            return true;
        }
    }

    @Override
    public void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        other.close();
    }
}
