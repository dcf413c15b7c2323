package dev.holdfast.benchmarks.contestant.holdfast;

import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.spi.Command;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * Holdfast on a store that counts commands.
 *
 * @param settings of the client
 */
public record Counted(Holdfasts holdfast, String title, UnaryOperator<Holdfast.Builder> settings)
        implements Contestant {

    /** With default settings. */
    public static Counted withDefaults(Holdfasts holdfast) {
        return new Counted(holdfast, holdfast.title(), UnaryOperator.identity());
    }

    /** In strict order. */
    public static Counted inStrictOrder(Holdfasts holdfast) {
        return new Counted(holdfast, holdfast.title(), builder -> builder.cohortBudget(Duration.ZERO));
    }

    /** With a ttl so long that there is hardly an audit: each ttl has one. */
    public static Counted withoutAudits(Holdfasts holdfast, Duration interval) {
        return new Counted(
                holdfast,
                holdfast.title() + "-no-audits",
                builder -> builder.sessionTtl(Duration.ofHours(1)).keepAliveEvery(interval));
    }

    @Override
    public Client connect(Path place) {
        CountingStore store = new CountingStore(holdfast.open(place));
        Holdfast client = settings.apply(Holdfast.builder(store)).build();
        return new CountedClient(store, new Holdfasts.HoldfastClient(store, client));
    }

    record CountedClient(CountingStore store, Holdfasts.HoldfastClient client) implements Client {

        @Override
        public Mutex mutex(String name) {
            return client.mutex(name);
        }

        @Override
        public Housekeeping housekeeping() {
            return new Housekeeping(
                    store.count(Command.KeepAlive.class),
                    store.count(Command.Poll.class),
                    store.count(Command.Audit.class));
        }

        @Override
        public void close() {
            client.close();
        }
    }
}
