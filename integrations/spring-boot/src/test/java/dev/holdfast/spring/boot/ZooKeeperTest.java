package dev.holdfast.spring.boot;

import static dev.holdfast.spring.boot.Analyses.assertAnalysis;
import static dev.holdfast.spring.boot.HoldingApplication.holdsWhileItRuns;

import dev.holdfast.Holdfast;
import dev.holdfast.servers.ZooKeeperServer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@DisplayName("On a real ZooKeeper, the auto-configuration")
@Tag("server")
class ZooKeeperTest {

    @SuppressWarnings("NullAway.Init")
    private static ZooKeeperServer zookeeper;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues("holdfast.store-timeout=1m", "holdfast.zookeeper.request-timeout=1m")
            .withUserConfiguration(HoldingApplication.class)
            .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class));

    @BeforeAll
    static void start() {
        zookeeper = ZooKeeperServer.start();
    }

    @AfterAll
    static void end() {
        zookeeper.close();
    }

    private static CuratorFramework newCurator() {
        return CuratorFrameworkFactory.builder()
                .connectString(zookeeper.connectString())
                .sessionTimeoutMs(60_000)
                .connectionTimeoutMs(60_000)
                .retryPolicy(new RetryOneTime(100))
                .build();
    }

    /** An application with a client of Curator's, which it also closes. */
    @Configuration(proxyBeanMethods = false)
    static class Curator {
        @Bean(initMethod = "start")
        CuratorFramework curator() {
            return newCurator();
        }
    }

    /** An application that has forgotten to start its client. */
    @Configuration(proxyBeanMethods = false)
    static class LatentCurator {
        @Bean
        CuratorFramework curator() {
            return newCurator();
        }
    }

    private static Holdfast client(String root) {
        return Holdfast.connect("zookeeper://" + zookeeper.connectString() + "?root=" + root);
    }

    @Test
    @Tag("smoke")
    @DisplayName("uses the connection of Curator's client, and gives locks back before that is closed")
    void curator() {
        holdsWhileItRuns(runner.withUserConfiguration(Curator.class), () -> client("/holdfast"));
    }

    @Test
    @DisplayName("uses ZooKeeper by URI, with a root from properties")
    void uri() {
        holdsWhileItRuns(
                runner.withPropertyValues(
                        "holdfast.store=zookeeper://" + zookeeper.connectString(), "holdfast.zookeeper.root=/property"),
                () -> client("/property"));
    }

    @Test
    @DisplayName("lets a customizer have the last word")
    void customizer() {
        holdsWhileItRuns(
                runner.withUserConfiguration(Curator.class)
                        .withPropertyValues("holdfast.zookeeper.root=/property")
                        .withBean(ZooKeeperStoreBuilderCustomizer.class, () -> builder -> builder.root("/customized")),
                () -> client("/customized"));
    }

    @Test
    @DisplayName("wants a client of Curator's that was started")
    void latent() {
        runner.withUserConfiguration(LatentCurator.class)
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("CuratorFramework 'curator'", "it is LATENT"));
    }

    @Test
    @DisplayName("takes no SSL bundle, and says so")
    void bundle() {
        runner.withUserConfiguration(Curator.class)
                .withPropertyValues("holdfast.ssl.bundle=locks")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("a store on ZooKeeper doesn't support SSL bundles"));
    }
}
