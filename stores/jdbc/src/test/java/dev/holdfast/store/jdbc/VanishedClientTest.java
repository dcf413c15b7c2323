package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.holdfast.Holdfast;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import java.net.URI;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("A client that vanishes in the middle of a transaction, unnoticed by the server")
@Tag("postgres")
@Tag("server")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class VanishedClientTest {

    /** Connections that go silent once, after a statement has locked rows in a transaction. */
    private static final class Vanishing extends StatementLog {
        private final FaultProxy proxy;
        private volatile boolean isArmed;
        private volatile boolean isGone;

        Vanishing(String url, FaultProxy proxy) {
            super(url.replaceFirst("//[^/]*/", "//127.0.0.1:" + proxy.port() + "/"));
            this.proxy = proxy;
        }

        @Override
        public Object call(Connection connection, String text, Call call) throws Throwable {
            Object result = call.make();
            if (isArmed && !isGone && text.contains("ORDER BY name FOR UPDATE")) {
                isGone = true;
                proxy.silence();
            }
            return result;
        }
    }

    @ParameterizedTest(name = "{0}, lent: {1}")
    @CsvSource({"POSTGRES,false", "POSTGRES,true", "MARIADB,false", "MARIADB,true"})
    @MostlyWaits
    @DisplayName("keeps nobody from the names whose rows it had locked, for longer than a few seconds")
    void rowsAreFreed(TestDatabase database, boolean isLent) throws Exception {
        assumeFalse(database == TestDatabase.MARIADB && MariaDbOrMysql.isMysql(), "MySQL has no such bound");
        String url = database.newUrl();
        try (FaultProxy proxy =
                FaultProxy.to(URI.create(url.substring("jdbc:".length())).getPort())) {
            Vanishing source = new Vanishing(url, proxy);
            JdbcStore.Builder builder = JdbcStore.builder(source);
            try (Holdfast other = client(JdbcStore.builder(new TestSource(url)).keepsConnections());
                    Holdfast client = client(isLent ? builder : builder.keepsConnections())) {
                // From now on there is a row.
                assertThat(other.latch("imported").trySetCount(1)).isTrue();
                other.latch("imported").countDown();
                source.isArmed = true;
                CompletableFuture<Boolean> vanished =
                        client.latch("imported").trySetCountAsync(3).toCompletableFuture();
                Awaitility.await("it is gone").atMost(60, TimeUnit.SECONDS).until(() -> source.isGone);

                assertThat(other.latch("imported")
                                .trySetCountAsync(2)
                                .toCompletableFuture()
                                .get(60, TimeUnit.SECONDS))
                        .isTrue();
                proxy.reset();
                assertThat(vanished.get(60, TimeUnit.SECONDS)).isFalse();
            }
        }
    }

    private static Holdfast client(JdbcStore.Builder builder) {
        return Holdfast.builder(builder.open())
                .sessionTtl(Duration.ofMinutes(5))
                .storeTimeout(Duration.ofSeconds(60))
                .build();
    }
}
