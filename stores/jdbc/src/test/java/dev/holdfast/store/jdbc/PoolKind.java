package dev.holdfast.store.jdbc;

import com.mchange.v2.c3p0.ComboPooledDataSource;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import java.beans.PropertyVetoException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.apache.tomcat.jdbc.pool.PoolProperties;

/**
 * A pool of {@link #SIZE} connections from each library, lent without autocommit and serializable, without settings
 * that would restore that.
 */
enum PoolKind {
    HIKARI {
        @Override
        Pool make(String url) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(url);
            config.setMaximumPoolSize(SIZE);
            config.setMinimumIdle(SIZE);
            config.setAutoCommit(false);
            config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
            HikariDataSource pool = new HikariDataSource(config);
            return new Pool(pool, pool);
        }
    },

    TOMCAT {
        @Override
        Pool make(String url) throws SQLException {
            PoolProperties properties = new PoolProperties();
            properties.setUrl(url);
            properties.setMaxActive(SIZE);
            properties.setMaxIdle(SIZE);
            properties.setInitialSize(SIZE);
            // Only for new connections: it restores nothing without an interceptor.
            properties.setDefaultAutoCommit(false);
            properties.setDefaultTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            var pool = new org.apache.tomcat.jdbc.pool.DataSource(properties);
            return new Pool(pool, () -> pool.close(true));
        }
    },

    DBCP2 {
        @Override
        Pool make(String url) {
            BasicDataSource pool = new BasicDataSource();
            pool.setUrl(url);
            pool.setMaxTotal(SIZE);
            pool.setMaxIdle(SIZE);
            pool.setMaxWait(Duration.ofSeconds(30));
            pool.setAutoCommitOnReturn(false);
            pool.setDefaultAutoCommit(false);
            pool.setDefaultTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            return new Pool(pool, pool);
        }
    },

    C3P0 {
        @Override
        Pool make(String url) throws SQLException, PropertyVetoException {
            ComboPooledDataSource pool = new ComboPooledDataSource();
            pool.setJdbcUrl(url);
            pool.setDriverClass(
                    url.startsWith("jdbc:postgresql:") ? "org.postgresql.Driver" : "org.mariadb.jdbc.Driver");
            pool.setInitialPoolSize(SIZE);
            pool.setMinPoolSize(SIZE);
            pool.setMaxPoolSize(SIZE);
            pool.setCheckoutTimeout(30_000);
            return new Pool(pool, pool::close);
        }
    },

    AGROAL {
        @Override
        Pool make(String url) throws SQLException {
            AgroalDataSource pool = AgroalDataSource.from(new AgroalDataSourceConfigurationSupplier()
                    .connectionPoolConfiguration(settings -> settings.maxSize(SIZE)
                            .minSize(SIZE)
                            .initialSize(SIZE)
                            .acquisitionTimeout(Duration.ofSeconds(30))
                            .connectionFactoryConfiguration(factory -> factory.jdbcUrl(url)
                                    .autoCommit(false)
                                    .jdbcTransactionIsolation(
                                            io.agroal.api.configuration.AgroalConnectionFactoryConfiguration
                                                    .TransactionIsolation.SERIALIZABLE))));
            return new Pool(pool, pool);
        }
    };

    static final int SIZE = 4;

    /** A pool, and how it is closed. */
    record Pool(DataSource source, AutoCloseable closing) implements AutoCloseable {
        @Override
        public void close() throws Exception {
            closing.close();
        }
    }

    abstract Pool make(String url) throws Exception;
}
