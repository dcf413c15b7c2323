package dev.holdfast.spring.boot;

import static dev.holdfast.spring.boot.Analyses.assertAnalysis;
import static dev.holdfast.spring.boot.HoldingApplication.holdsWhileItRuns;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.Certificates;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.jdbc.JdbcStore;
import dev.holdfast.store.redis.RedisStore;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

@DisplayName("On real servers, the auto-configuration")
@Tag("server")
class ServersTest {

    @SuppressWarnings("NullAway.Init")
    private static Certificates certificates;

    @SuppressWarnings("NullAway.Init")
    private static RedisServer redis;

    @SuppressWarnings("NullAway.Init")
    private static String database;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues("holdfast.store-timeout=1m")
            .withUserConfiguration(HoldingApplication.class)
            .withConfiguration(AutoConfigurations.of(
                    HoldfastAutoConfiguration.class, DataRedisAutoConfiguration.class, SslAutoConfiguration.class));

    @BeforeAll
    static void start() {
        certificates = Certificates.make();
        redis = RedisServer.builder()
                .password("canary")
                .tls(certificates.server(), null)
                .start();
        database = PostgresServer.shared().newDatabase();
    }

    @AfterAll
    static void end() {
        redis.close();
    }

    private ApplicationContextRunner withRedis() {
        return runner.withPropertyValues(
                "spring.data.redis.host=127.0.0.1",
                "spring.data.redis.port=" + redis.port(),
                "spring.data.redis.password=canary");
    }

    private ApplicationContextRunner withDatabase() {
        return runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
                .withPropertyValues("spring.datasource.url=" + database);
    }

    private static Holdfast redisClient() {
        return Holdfast.connect("redis://:canary@127.0.0.1:" + redis.port());
    }

    private static Holdfast databaseClient() {
        URI uri = URI.create(database.substring("jdbc:".length()));
        return Holdfast.connect("postgresql://postgres@" + uri.getAuthority() + uri.getPath());
    }

    @Test
    @Tag("smoke")
    @DisplayName("uses Redis where the connection factory leads, and gives locks back before that stops")
    void redisConnectionFactory() {
        holdsWhileItRuns(
                withRedis().withPropertyValues("holdfast.store=bean:redisConnectionFactory"), ServersTest::redisClient);
    }

    /** A configuration of a type that says nothing of its contents. */
    private static LettuceConnectionFactory factoryOf(RedisConfiguration configuration) {
        return new LettuceConnectionFactory(configuration);
    }

    @Test
    @DisplayName("uses Redis where the factory leads, whatever it was made of")
    void redisConfiguration() {
        RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", redis.port());
        server.setPassword("canary");
        holdsWhileItRuns(
                new ApplicationContextRunner()
                        .withPropertyValues("holdfast.store-timeout=1m")
                        .withUserConfiguration(HoldingApplication.class)
                        .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                        .withBean(LettuceConnectionFactory.class, () -> factoryOf(server)),
                ServersTest::redisClient);
    }

    @Test
    @DisplayName("uses Redis by URI, with a password and a namespace from properties")
    void redisByUri() {
        holdsWhileItRuns(
                runner.withPropertyValues(
                        "holdfast.store=redis://127.0.0.1:" + redis.port(),
                        "holdfast.password=canary",
                        "holdfast.redis.namespace=tests"),
                () -> Holdfast.connect("redis://:canary@127.0.0.1:" + redis.port() + "?namespace=tests"));
    }

    /** An application with nothing but an annotation. */
    @Configuration(proxyBeanMethods = false)
    static class Annotated {
        @Bean
        StartupTest.Ledger ledger() {
            return new StartupTest.Ledger();
        }
    }

    @Test
    @DisplayName("does not start with a wrong password, also if only annotations need the store")
    void wrongPassword() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withUserConfiguration(Annotated.class)
                .withPropertyValues(
                        "holdfast.store-timeout=1m",
                        "holdfast.store=redis://127.0.0.1:" + redis.port(),
                        "holdfast.password=wrong-canary")
                .run(context -> {
                    assertThat(context.getStartupFailure()).hasStackTraceContaining("StoreRefusedException");
                    assertAnalysis(context.getStartupFailure())
                            .noneMatch(text -> text.contains("wrong-canary"))
                            .anyMatch(text -> text.contains("correct the configuration"));
                });
    }

    @Test
    @DisplayName("waits for as many replicas as the property says")
    void waitForReplicas() {
        runner.withPropertyValues(
                        "holdfast.store=redis://127.0.0.1:" + redis.port(),
                        "holdfast.password=canary",
                        "holdfast.redis.wait-for-replicas=1",
                        "holdfast.redis.replica-timeout=50ms")
                .run(context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("replica"));
    }

    @Test
    @DisplayName("uses a database behind a pooler")
    void pooler() {
        URI uri = URI.create(database.substring("jdbc:".length()));
        holdsWhileItRuns(
                runner.withPropertyValues(
                        "holdfast.store=postgresql://postgres@" + uri.getAuthority() + uri.getPath(),
                        "holdfast.jdbc.pooler=transaction"),
                ServersTest::databaseClient);
    }

    @Test
    @DisplayName("trusts what an SSL bundle says, and nothing else")
    void sslBundle() {
        ApplicationContextRunner secure = runner.withPropertyValues(
                "holdfast.store=rediss://localhost:" + redis.tlsPort(),
                "holdfast.password=canary",
                "holdfast.ssl.bundle=locks");
        holdsWhileItRuns(
                secure.withPropertyValues(
                        "spring.ssl.bundle.pem.locks.truststore.certificate=file:" + certificates.authority()),
                ServersTest::redisClient);
        secure.withPropertyValues("spring.ssl.bundle.pem.locks.truststore.certificate=file:" + certificates.stranger())
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("certificate"));
    }

    @Test
    @DisplayName("starts without Redis if it may, and has locks once Redis is there")
    void retry() throws Exception {
        RedisServer away = RedisServer.start();
        away.kill();
        ApplicationContextRunner early = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withPropertyValues("holdfast.store=redis://127.0.0.1:" + away.port(), "holdfast.store-timeout=1m");
        early.withUserConfiguration(HoldingApplication.class)
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .anyMatch(text -> text.contains("'holdfast.startup-policy' to 'retry'")));
        early.withPropertyValues("holdfast.startup-policy=retry").run(context -> {
            Holdfast holdfast = context.getBean(Holdfast.class);
            assertThat(holdfast.state().isConnected()).isFalse();
            away.restart();
            try (Hold hold = holdfast.lock("nightly-report").acquire()) {
                assertThat(hold.isHeld()).isTrue();
            }
        });
        away.close();
    }

    @Test
    @DisplayName("promises of a store that is opened later no more than what the store keeps")
    void promises() {
        RedisStore.Builder redisBuilder =
                RedisStore.builder(StoreUri.parse("redis://:canary@127.0.0.1:" + redis.port()));
        JdbcStore.Builder jdbcBuilder = JdbcStore.builder(new DriverManagerDataSource(database));
        try (LockStore redisStore = redisBuilder.open();
                LockStore redisLater = redisBuilder.openLater();
                LockStore jdbcStore = jdbcBuilder.open();
                LockStore jdbcLater = jdbcBuilder.openLater()) {
            promisesNoMore(redisLater.traits(), redisStore.traits());
            promisesNoMore(jdbcLater.traits(), jdbcStore.traits());
        }
    }

    private static void promisesNoMore(StoreTraits promised, StoreTraits kept) {
        for (StoreTraits.Feature feature : StoreTraits.Feature.values()) {
            assertThat(!promised.has(feature) || kept.has(feature))
                    .as("%s", feature)
                    .isTrue();
        }
        assertThat(kept.admissions()).containsAll(promised.admissions());
        assertThat(promised.minSessionTtl()).isEqualTo(kept.minSessionTtl());
        assertThat(promised.maxSessionTtl()).isEqualTo(kept.maxSessionTtl());
        assertThat(promised.fixedLease()).isEqualTo(kept.fixedLease());
        assertThat(promised.tokenSource()).isEqualTo(kept.tokenSource());
    }

    @Test
    @Tag("smoke")
    @DisplayName("uses the database of the DataSource, and makes the tables")
    void dataSource() {
        holdsWhileItRuns(
                withDatabase().withPropertyValues("holdfast.store=bean:dataSource"), ServersTest::databaseClient);
    }

    @Test
    @DisplayName("makes no tables where migrations do")
    void noTables() {
        withDatabase()
                .withPropertyValues(
                        "holdfast.store=bean:dataSource",
                        "holdfast.jdbc.initialize-schema=never",
                        "holdfast.jdbc.table-prefix=migrated_")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("DataSource 'dataSource'", "initialize=never"));
    }

    @Test
    @DisplayName("makes tables with the prefix, and lets a customizer have the last word")
    void tablePrefix() throws SQLException {
        withDatabase()
                .withPropertyValues("holdfast.store=bean:dataSource", "holdfast.jdbc.table-prefix=from_property_")
                .withBean(JdbcStoreBuilderCustomizer.class, () -> builder -> builder.tablePrefix("customized_"))
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(tables("from_property_")).isZero();
        assertThat(tables("customized_")).isPositive();
    }

    private static int tables(String prefix) throws SQLException {
        try (Connection connection = DriverManager.getConnection(database);
                ResultSet found = connection.getMetaData().getTables(null, null, prefix + "%", null)) {
            int count = 0;
            while (found.next()) {
                count++;
            }
            return count;
        }
    }

    @Test
    @DisplayName("does not guess between the database and Redis of one application")
    void both() {
        withDatabase()
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("DataSource 'dataSource', LettuceConnectionFactory 'redisConnectionFactory'"));
    }
}
