package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.jdbc.JdbcStore;
import dev.holdfast.store.jdbc.JdbcStoreProvider;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** Stores on a database: on a {@link DataSource} bean, or by URI. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({JdbcStore.class, DataSource.class})
class JdbcStoreConfiguration {

    private static final String POOLER = "pooler";

    @Bean
    @Lazy
    StoreConnector<DataSource> holdfastJdbcConnector(
            HoldfastProperties properties, ObjectProvider<JdbcStoreBuilderCustomizer> customizers) {
        return new StoreConnector<>(DataSource.class, connection -> {
            if (properties.jdbc().pooler() != null) {
                throw new IllegalArgumentException(
                        "the property 'holdfast.jdbc.pooler' is set, but applies only to a store with a "
                                + "URI; for a DataSource, set the driver's prepareThreshold=0 instead, and leave "
                                + "'holdfast.jdbc.listens' unset");
            }
            return open(JdbcStore.builder(connection), properties, customizers);
        });
    }

    @Bean
    @Lazy
    StoreUriOpener holdfastJdbcUriOpener(
            HoldfastProperties properties, ObjectProvider<JdbcStoreBuilderCustomizer> customizers) {
        return new StoreUriOpener(new JdbcStoreProvider().schemes(), uri -> {
            if (properties.ssl().bundle() != null) {
                throw new IllegalArgumentException(
                        "the property 'holdfast.ssl.bundle' is set, but database drivers don't support SSL "
                                + "bundles; use the driver's own parameters in the URI, such as sslmode and "
                                + "sslrootcert");
            }
            return open(JdbcStore.builder(withPooler(uri, properties.jdbc().pooler())), properties, customizers);
        });
    }

    private static StoreUri withPooler(StoreUri uri, HoldfastProperties.@Nullable Pooler pooler) {
        if (pooler == null) {
            return uri;
        } else if (uri.parameters().containsKey(POOLER)) {
            throw new IllegalArgumentException(
                    "a pooler is set both in the URI and in the property 'holdfast.jdbc.pooler'");
        }
        Map<String, String> parameters = new LinkedHashMap<>(uri.parameters());
        parameters.put(POOLER, pooler.name().toLowerCase(Locale.ROOT));
        return new StoreUri(uri.scheme(), uri.rest(), parameters);
    }

    /** Opens a store as properties and customizers set it up. */
    private static LockStore open(
            JdbcStore.Builder builder,
            HoldfastProperties properties,
            ObjectProvider<JdbcStoreBuilderCustomizer> customizers) {
        builder.openTimeout(properties.storeTimeout());
        HoldfastProperties.Jdbc jdbc = properties.jdbc();
        if (jdbc.initializeSchema() != null) {
            builder.initialize(
                    switch (jdbc.initializeSchema()) {
                        case ALWAYS -> JdbcStore.Initialize.ALWAYS;
                        case IF_MISSING -> JdbcStore.Initialize.IF_MISSING;
                        case NEVER -> JdbcStore.Initialize.NEVER;
                    });
        }
        if (jdbc.schema() != null) {
            builder.schema(jdbc.schema());
        }
        if (jdbc.tablePrefix() != null) {
            builder.tablePrefix(jdbc.tablePrefix());
        }
        if (jdbc.listens() != null) {
            builder.listens(jdbc.listens());
        }
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
        return properties.startsWithoutStore() ? builder.openLater() : builder.open();
    }
}
