package dev.holdfast.spring.boot;

import static dev.holdfast.spring.boot.Analyses.assertAnalysis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.LockStore;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.AbstractDataSource;

@DisplayName("The connection of the application's that a store is opened on")
class StoreBeansTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
            .withUserConfiguration(UsesStore.class);

    /** Asks for the store. */
    @Configuration(proxyBeanMethods = false)
    static class UsesStore {
        @Bean
        String uses(LockStore store) {
            return store.traits().product();
        }
    }

    /** A database that says its name and nothing else. */
    static final class NamedDataSource extends AbstractDataSource {
        private final String name;

        NamedDataSource(String name) {
            this.name = name;
        }

        @Override
        public Connection getConnection() throws SQLException {
            throw new SQLException("asked " + name, "28000");
        }

        @Override
        public Connection getConnection(String user, String password) throws SQLException {
            return getConnection();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Single {
        @Bean
        DataSource dataSource() {
            return new NamedDataSource("the only one");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Two {
        @Bean
        DataSource orders() {
            return new NamedDataSource("orders");
        }

        @Bean
        DataSource stock() {
            return new NamedDataSource("stock");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PrimaryAndOther {
        @Bean
        @Primary
        DataSource orders() {
            return new NamedDataSource("orders");
        }

        @Bean
        DataSource stock() {
            return new NamedDataSource("stock");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PrimaryAndMarked {
        @Bean
        @Primary
        DataSource orders() {
            return new NamedDataSource("orders");
        }

        @Bean(defaultCandidate = false)
        @HoldfastConnection
        DataSource locks() {
            return new NamedDataSource("locks");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class HiddenAndPlain {
        @Bean(autowireCandidate = false)
        DataSource hidden() {
            return new NamedDataSource("hidden");
        }

        @Bean
        DataSource plain() {
            return new NamedDataSource("plain");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class RedisConnection {
        @Bean
        LettuceConnectionFactory redisConnectionFactory() {
            return new LettuceConnectionFactory(new RedisStandaloneConfiguration("localhost", 1));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoChannels {
        @Bean(destroyMethod = "shutdownNow")
        ManagedChannel etcd() {
            return channelToNowhere();
        }

        @Bean(destroyMethod = "shutdownNow")
        ManagedChannel billing() {
            return channelToNowhere();
        }

        private static ManagedChannel channelToNowhere() {
            return ManagedChannelBuilder.forTarget("127.0.0.1:1").usePlaintext().build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Curator {
        @Bean
        CuratorFramework curator() {
            return CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(1));
        }
    }

    @Test
    @DisplayName("is refused if it leads to a master and replicas, or to a socket, and not replaced by localhost")
    void unsupportedRedis() {
        runner.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withPropertyValues("spring.data.redis.masterreplica.nodes=127.0.0.1:1,127.0.0.1:2")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("LettuceConnectionFactory 'redisConnectionFactory'", "a master and its replicas"));
        runner.withBean(
                        LettuceConnectionFactory.class,
                        () -> new LettuceConnectionFactory(new RedisSocketConfiguration("/run/redis.sock")))
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("a Unix domain socket"));
        runner.withBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory(new RedisConfiguration() {}))
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("but a lock store needs Spring Data's configuration"));
    }

    private void expectAsked(String name, UnaryOperator<ApplicationContextRunner> with) {
        with.apply(runner)
                .run(context ->
                        assertThat(context.getStartupFailure()).rootCause().hasMessage("asked " + name));
    }

    @Test
    @DisplayName("is the only one")
    void single() {
        expectAsked("the only one", with -> with.withUserConfiguration(Single.class));
    }

    @Test
    @DisplayName("is the primary one of several")
    void primary() {
        expectAsked("orders", with -> with.withUserConfiguration(PrimaryAndOther.class));
    }

    @Test
    @DisplayName("is the one that is marked, though another is primary")
    void marked() {
        expectAsked("locks", with -> with.withUserConfiguration(PrimaryAndMarked.class));
    }

    @Test
    @DisplayName("is the one that the property names")
    void named() {
        expectAsked(
                "stock", with -> with.withUserConfiguration(Two.class).withPropertyValues("holdfast.store=bean:stock"));
    }

    @Test
    @DisplayName("is none that may not be injected")
    void hidden() {
        expectAsked("plain", with -> with.withUserConfiguration(HiddenAndPlain.class));
    }

    @Test
    @DisplayName("is not guessed: of two that are equal none is taken")
    void ambiguous() {
        runner.withUserConfiguration(Two.class)
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .satisfiesExactly(
                                what -> assertThat(what)
                                        .contains("any of 2 beans", "DataSource 'orders', DataSource 'stock'"),
                                action -> assertThat(action).contains("@HoldfastConnection", "'bean:'")));
    }

    @Test
    @DisplayName("is not guessed: of a database and a Redis none is taken")
    void ambiguousKinds() {
        runner.withUserConfiguration(Single.class, RedisConnection.class)
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("DataSource 'dataSource'", "LettuceConnectionFactory 'redisConnectionFactory'"));
    }

    @Test
    @DisplayName("is not guessed: of two channels, of which one may lead elsewhere, none is taken")
    void ambiguousChannels() {
        runner.withUserConfiguration(TwoChannels.class)
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .satisfiesExactly(
                                what -> assertThat(what)
                                        .contains("any of 2 beans", "ManagedChannel 'etcd', ManagedChannel 'billing'"),
                                action -> assertThat(action).contains("@HoldfastConnection", "'bean:'")));
    }

    @Test
    @DisplayName("is not guessed: of a database and a ZooKeeper none is taken, unless the property names it")
    void ambiguousWithCurator() {
        ApplicationContextRunner both = runner.withUserConfiguration(Single.class, Curator.class);
        both.run(context -> assertAnalysis(context.getStartupFailure())
                .first()
                .asString()
                .contains("DataSource 'dataSource'", "CuratorFramework 'curator'"));
        both.withPropertyValues("holdfast.store=bean:curator")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("CuratorFramework 'curator'", "it is LATENT"));
    }

    @Test
    @DisplayName("is none for etcd or ZooKeeper where their classes are not")
    void withoutTheirClasses() {
        expectAsked(
                "the only one",
                with -> with.withUserConfiguration(Single.class)
                        .withClassLoader(new FilteredClassLoader(
                                "dev.holdfast.store.etcd",
                                "dev.holdfast.store.zookeeper",
                                "io.grpc",
                                "org.apache.curator",
                                "org.apache.zookeeper")));
    }

    @Test
    @DisplayName("is a channel or a client of Curator's, and the module of its store is not there")
    void missingRegisterModule() {
        runner.withUserConfiguration(TwoChannels.class)
                .withClassLoader(new FilteredClassLoader("dev.holdfast.store.etcd"))
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .anyMatch(text -> text.contains("dev.holdfast:holdfast-etcd")));
        runner.withUserConfiguration(Curator.class)
                .withClassLoader(new FilteredClassLoader("dev.holdfast.store.zookeeper"))
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .anyMatch(text -> text.contains("dev.holdfast:holdfast-zookeeper")));
    }

    @Test
    @DisplayName("is there, and the module of its store is not: the artifact is named")
    void missingModule() {
        runner.withUserConfiguration(Single.class)
                .withClassLoader(new FilteredClassLoader("dev.holdfast.store.jdbc"))
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .satisfiesExactly(
                                what -> assertThat(what).contains("the store's module is missing"),
                                action -> assertThat(action).contains("dev.holdfast:holdfast-jdbc")));
    }

    @Test
    @DisplayName("has a name that nobody has: those that would do are listed")
    void misnamed() {
        runner.withUserConfiguration(Two.class)
                .withPropertyValues("holdfast.store=bean:order")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("the bean 'order', which does not exist", "DataSource 'orders'"));
    }

    @Test
    @DisplayName("is named, and no store can be opened on it")
    void unfit() {
        runner.withBean("text", String.class, () -> "text")
                .withPropertyValues("holdfast.store=bean:text")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("the bean 'text', on which no lock store can be opened"));
    }
}
