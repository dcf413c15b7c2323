package dev.holdfast.store.jdbc;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.StoreTraits.FixedLease;
import dev.holdfast.spi.StoreTraits.TokenSource;
import dev.holdfast.store.jdbc.server.Product;
import dev.holdfast.store.ledger.table.SqlTemplates;
import java.time.Duration;

/** The traits of stores on database servers. */
final class JdbcTraits {

    /** The poll interval without notifications. */
    private static final Duration POLL = Duration.ofMillis(10);

    /** The poll interval with notifications, in case one is missed. */
    private static final Duration POLL_WHEN_NOTIFIED = Duration.ofMillis(500);

    private JdbcTraits() {}

    static StoreTraits of(Product product, SqlTemplates templates, boolean hasNotifications, boolean callersRun) {
        StoreTraits.Builder traits =
                common(product.title() + ", schema " + ResourceName.printable(templates.schema()), hasNotifications);
        if (!templates.limitation().isEmpty()) {
            traits.without(Feature.ANNOTATIONS, Feature.RUNS);
        }
        return traits.system(product.system())
                .withIf(hasNotifications && product.notifiesReliably(), Feature.PUSH)
                .withIf(callersRun, Feature.CALLER_RUNS)
                .build();
    }

    /** The traits common to all servers. */
    static StoreTraits.Builder common(String title, boolean hasNotifications) {
        return StoreTraits.of(title)
                .with(Feature.FIFO, Feature.BARGING, Feature.ADVANCE, Feature.DETACHED_GRANTS, Feature.KNOWN_WAITERS)
                .with(Feature.ORDERED_INSPECTION, Feature.PORTABLE_SESSIONS, Feature.ANNOTATIONS, Feature.RUNS)
                .admitsAll()
                .minSessionTtl(Duration.ofMillis(200))
                .ttlGranularity(Duration.ofNanos(1_000))
                .fixedLease(FixedLease.NATIVE)
                .tokenSource(TokenSource.CLOCKED)
                .pollEvery(hasNotifications ? POLL_WHEN_NOTIFIED : POLL);
    }
}
