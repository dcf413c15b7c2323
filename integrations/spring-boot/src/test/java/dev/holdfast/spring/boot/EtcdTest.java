package dev.holdfast.spring.boot;

import static dev.holdfast.spring.boot.Analyses.assertAnalysis;
import static dev.holdfast.spring.boot.HoldingApplication.holdsWhileItRuns;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.NeedsEtcd;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@DisplayName("On a real etcd, the auto-configuration")
@Tag("server")
@NeedsEtcd
class EtcdTest {

    @SuppressWarnings("NullAway.Init")
    private static EtcdServer etcd;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues("holdfast.store-timeout=1m", "holdfast.etcd.request-timeout=1m")
            .withUserConfiguration(HoldingApplication.class)
            .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class));

    @BeforeAll
    static void start() {
        etcd = EtcdServer.start();
    }

    @AfterAll
    static void end() {
        etcd.close();
    }

    /** An application with a channel to etcd, which it also closes. */
    @Configuration(proxyBeanMethods = false)
    static class Channel {
        @Bean(destroyMethod = "shutdownNow")
        ManagedChannel etcdChannel() {
            return ManagedChannelBuilder.forTarget(etcd.endpoint())
                    .usePlaintext()
                    .build();
        }
    }

    private static Holdfast client(String namespace) {
        return Holdfast.connect("etcd://" + etcd.endpoint() + "/" + namespace);
    }

    @Test
    @Tag("smoke")
    @DisplayName("uses the channel of the application, and gives locks back before that is shut down")
    void channel() {
        holdsWhileItRuns(runner.withUserConfiguration(Channel.class), () -> client("holdfast"));
    }

    @Test
    @DisplayName("uses etcd by URI, with a namespace from properties")
    void uri() {
        holdsWhileItRuns(
                runner.withPropertyValues(
                        "holdfast.store=etcd://" + etcd.endpoint(), "holdfast.etcd.namespace=property"),
                () -> client("property"));
    }

    @Test
    @DisplayName("lets a customizer have the last word")
    void customizer() {
        holdsWhileItRuns(
                runner.withUserConfiguration(Channel.class)
                        .withPropertyValues("holdfast.etcd.namespace=property")
                        .withBean(EtcdStoreBuilderCustomizer.class, () -> builder -> builder.namespace("customized")),
                () -> client("customized"));
    }

    @Test
    @DisplayName("names the channel that leads to no etcd")
    void unreachable() {
        runner.withBean(
                        "nowhere",
                        ManagedChannel.class,
                        () -> ManagedChannelBuilder.forTarget("127.0.0.1:1")
                                .usePlaintext()
                                .build())
                .withPropertyValues("holdfast.store-timeout=2s", "holdfast.etcd.request-timeout=1s")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("'nowhere'"));
    }

    @Test
    @DisplayName("starts no application without its etcd, whatever the policy")
    void later() {
        runner.withUserConfiguration(Channel.class)
                .withPropertyValues("holdfast.startup-policy=retry")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("a store on etcd can't be opened after"));
    }
}
