package dev.holdfast.store.jdbc;

import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.holdfast.Holdfast;
import dev.holdfast.servers.CutConnections;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.LockStore;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A server, a proxy or a firewall may end idle connections before the store or a pool validates them. */
@DisplayName("Connections to a database that were cut while idle")
@Tag("C7")
@Tag("mysql")
@Tag("postgres")
@Tag("server")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class CutConnectionsTest {

    private static FaultProxy proxyTo(String url) throws Exception {
        return FaultProxy.to(URI.create(url.substring("jdbc:".length())).getPort());
    }

    private static String through(FaultProxy proxy, String url) {
        return url.replaceFirst("//[^/]*/", "//127.0.0.1:" + proxy.port() + "/");
    }

    private static void areNotNoticed(LockStore store, FaultProxy proxy) throws Exception {
        try (Holdfast client = Holdfast.builder(store)
                .sessionTtl(Duration.ofMinutes(5))
                .storeTimeout(Duration.ofMinutes(1))
                .build()) {
            CutConnections.areNotNoticed(client, proxy::reset);
        }
    }

    @OnEachServer
    @DisplayName("fail no call, if they are the store's own")
    void ownConnections(TestDatabase database) throws Exception {
        String url = database.newUrl();
        try (FaultProxy proxy = proxyTo(url);
                LockStore store = JdbcStore.builder(new TestSource(through(proxy, url)))
                        .keepsConnections()
                        .open()) {
            areNotNoticed(store, proxy);
        }
    }

    static Stream<Arguments> pools() {
        return Stream.of(TestDatabase.POSTGRES, TestDatabase.MARIADB)
                .flatMap(
                        database -> Stream.of(PoolKind.HIKARI, PoolKind.TOMCAT).map(kind -> arguments(database, kind)));
    }

    @ParameterizedTest
    @MethodSource
    @DisplayName("fail no call, if a pool lends them unchecked")
    void pools(TestDatabase database, PoolKind kind) throws Exception {
        String url = database.newUrl();
        try (FaultProxy proxy = proxyTo(url)) {
            try (PoolKind.Pool pool = kind.make(through(proxy, url));
                    LockStore store = JdbcStore.builder(pool.source()).open()) {
                areNotNoticed(store, proxy);
            }
        }
    }
}
