package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.jdbc.JdbcStore;
import dev.holdfast.store.jdbc.JdbcStoreProvider;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** Stores on a database: on a {@link DataSource} bean, or by URI. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({JdbcStore.class, DataSource.class})
class JdbcStoreConfiguration {

    @Bean
    @Lazy
    Connector holdfastJdbcConnector(
            HoldfastProperties properties, ObjectProvider<JdbcStoreBuilderCustomizer> customizers) {
        return new Connector(properties, customizers);
    }

    /** Opens stores on databases. */
    static final class Connector implements StoreConnector<DataSource>, StoreUriOpener {
        private static final String POOLER = "pooler";

        private final HoldfastProperties properties;
        private final ObjectProvider<JdbcStoreBuilderCustomizer> customizers;

        Connector(HoldfastProperties properties, ObjectProvider<JdbcStoreBuilderCustomizer> customizers) {
            this.properties = properties;
            this.customizers = customizers;
        }

        @Override
        public Class<DataSource> type() {
            return DataSource.class;
        }

        @Override
        public LockStore open(DataSource connection) {
            if (properties.jdbc().pooler() != null) {
                throw new IllegalArgumentException("the property 'holdfast.jdbc.pooler' is set, which is for a store"
                        + " that a URI names; set prepareThreshold=0 of the driver in the DataSource instead, and not"
                        + " 'holdfast.jdbc.listens'");
            }
            return open(JdbcStore.builder(connection));
        }

        @Override
        public boolean serves(String scheme) {
            return new JdbcStoreProvider().schemes().contains(scheme);
        }

        @Override
        public LockStore open(StoreUri uri) {
            if (properties.ssl().bundle() != null) {
                throw new IllegalArgumentException("the property 'holdfast.ssl.bundle' is set, and drivers of databases"
                        + " take no SSL bundle; say in the URI what they know, such as sslmode and sslrootcert");
            }
            return open(JdbcStore.builder(withPooler(uri)));
        }

        private StoreUri withPooler(StoreUri uri) {
            if (properties.jdbc().pooler() == null) {
                return uri;
            } else if (uri.parameters().containsKey(POOLER)) {
                throw new IllegalArgumentException(
                        "there is a pooler in the URI, and another in the property 'holdfast.jdbc.pooler'");
            }
            Map<String, String> parameters = new LinkedHashMap<>(uri.parameters());
            parameters.put(POOLER, properties.jdbc().pooler().name().toLowerCase(Locale.ROOT));
            return new StoreUri(uri.scheme(), uri.rest(), parameters);
        }

        private LockStore open(JdbcStore.Builder builder) {
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
}
