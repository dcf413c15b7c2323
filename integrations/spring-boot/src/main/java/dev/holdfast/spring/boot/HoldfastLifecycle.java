package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;
import dev.holdfast.spi.LockStore;
import java.util.List;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Closes the clients of a context, then their stores, when the context closes: after the users of locks have stopped,
 * and before the connections close that releases need. Never creates a client or a store.
 *
 * <p>A context that is only stopped or paused keeps its clients, since it may start again and a client can't be
 * reopened.
 */
final class HoldfastLifecycle implements SmartLifecycle {

    /**
     * Below web servers and schedulers (about {@link Integer#MAX_VALUE}) and listeners of messages (down to half of
     * that), and above connection factories (0).
     */
    static final int DEFAULT_PHASE = Integer.MAX_VALUE / 4;

    private final ConfigurableApplicationContext context;
    private final HoldfastClients clients;
    private final int phase;
    private final boolean opens;
    private volatile boolean running;

    /**
     * The life cycle of the clients of a context.
     *
     * @param opens whether clients are created when the context starts, even if nothing uses them yet
     */
    HoldfastLifecycle(ConfigurableApplicationContext context, HoldfastClients clients, int phase, boolean opens) {
        this.context = context;
        this.clients = clients;
        this.phase = phase;
        this.opens = opens;
    }

    @Override
    public void start() {
        if (opens) {
            clients.names().forEach(clients::get);
        }
        running = true;
    }

    /**
     * Blocks until the clients are closed, at most for their store time-out and a second. Doesn't use the stages of
     * {@link Holdfast#closeAsync()}, which complete on threads that code of the application may block.
     */
    @Override
    public void stop() {
        if (context.isClosed()) {
            List<Holdfast> open = List.copyOf(clients.present().values());
            // All close at the same time.
            open.forEach(client -> {
                var unused = client.closeAsync();
            });
            open.forEach(Holdfast::close);
            clients.present(LockStore.class).values().forEach(LockStore::close);
        }
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public boolean isPauseable() {
        return false;
    }

    @Override
    public int getPhase() {
        return phase;
    }
}
