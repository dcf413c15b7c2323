package dev.holdfast.store.jdbc.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.store.jdbc.server.FailoverDetector;
import dev.holdfast.store.ledger.runtime.NamedThreadFactory;
import dev.holdfast.store.ledger.runtime.SignalCodec;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("The connection on which PostgreSQL tells of grants")
@Tag("server")
@Tag("postgres")
class PostgresNotificationListenerTest {

    private static final FailoverDetector FAILOVERS =
            new FailoverDetector(new PostgresProduct("PostgreSQL", PostgresProduct.CLOCK, "news", true), signal -> {});

    private static final Signal NEWS =
            new Signal.Changed(new ClaimRef(new ResourceName("news"), new SessionId("s1"), 1));

    private final TestSource source = new TestSource(TestDatabase.POSTGRES.newUrl());
    private final BlockingQueue<Signal> heard = new LinkedBlockingQueue<>();

    /** Connections some of which fail to open; the server knows each by name. */
    private static final class Moody extends TestSource {
        private final String name;
        private int failing;
        private int asked;

        Moody(String url, String name) {
            super(url + "&ApplicationName=" + name);
            this.name = name;
        }

        synchronized void fails(int times) {
            failing = times;
        }

        synchronized int asked() {
            return asked;
        }

        @Override
        public synchronized Connection getConnection() throws SQLException {
            asked++;
            if (failing > 0) {
                failing--;
                throw new SQLException("Not now: " + name);
            }
            return super.getConnection();
        }
    }

    private void endAndHearAgain(String name) throws Exception {
        assertThat(source.text("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                        + " WHERE application_name = '" + name + "'"))
                .isEqualTo("1");
        assertThat(heard.poll(60, TimeUnit.SECONDS)).isInstanceOf(Signal.Resubscribed.class);
        hear();
    }

    private void hear() throws Exception {
        source.execute("NOTIFY \"news\", '" + SignalCodec.of(NEWS) + "'");
        assertThat(heard.poll(60, TimeUnit.SECONDS)).isEqualTo(NEWS);
    }

    @Test
    @DisplayName("is one that tells at once again, when such a one could not be had for a moment")
    void triesAgain() throws Exception {
        Moody usual = new Moody(source.url(), "usual");
        Moody prompt = new Moody(source.url(), "prompt");
        try (PostgresNotificationListener listening = new PostgresNotificationListener(
                usual, prompt, "news", NamedThreadFactory.DAEMONS, FAILOVERS, heard::add)) {
            listening.start();
            hear();
            prompt.fails(2);
            endAndHearAgain("prompt");
            endAndHearAgain("usual");
            endAndHearAgain("usual");
            assertThat(usual.asked()).isEqualTo(2);
            endAndHearAgain("prompt");
            assertThat(prompt.asked()).isEqualTo(5);
        }
    }

    @Test
    @DisplayName("is a usual one for good, when the driver can't make one that tells at once")
    void givesUp() throws Exception {
        Moody usual = new Moody(source.url(), "usual");
        Moody prompt = new Moody(source.url(), "prompt");
        prompt.fails(Integer.MAX_VALUE);
        try (PostgresNotificationListener listening = new PostgresNotificationListener(
                usual, prompt, "news", NamedThreadFactory.DAEMONS, FAILOVERS, heard::add)) {
            listening.start();
            for (int i = 0; i < 4; i++) {
                endAndHearAgain("usual");
            }
            assertThat(prompt.asked()).isEqualTo(3);
            assertThat(usual.asked()).isEqualTo(5);
        }
    }
}
