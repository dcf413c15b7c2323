package dev.holdfast.store.jdbc.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

@Tag("server")
@Tag("postgres")
class PromptSocketFactoryTest {

    private ServerSocket server;
    private Socket client;
    private Socket peer;

    @BeforeEach
    void connect() throws IOException {
        server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        client = new PromptSocketFactory().createSocket(server.getInetAddress(), server.getLocalPort());
        peer = server.accept();
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        peer.close();
        server.close();
    }

    @Test
    void aLookEndsWhereNothingHasArrivedAndReadsWhatHas() throws Exception {
        InputStream in = client.getInputStream();
        client.setSoTimeout(1);
        assertThatThrownBy(in::read).isInstanceOf(SocketTimeoutException.class).hasMessage("No data has arrived");
        assertThatThrownBy(() -> in.read(new byte[8]))
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessage("No data has arrived");

        peer.getOutputStream().write(new byte[] {7, 8, 9});
        client.setSoTimeout(0);
        assertThat(in.read()).isEqualTo(7);
        client.setSoTimeout(1);
        byte[] rest = new byte[8];
        assertThat(in.readNBytes(rest, 0, 2)).isEqualTo(2);
        assertThat(rest).startsWith(8, 9);
    }

    @Test
    void anyOtherReadWaits() throws Exception {
        client.setSoTimeout(1);
        client.setSoTimeout(0);
        CompletableFuture<Integer> read = CompletableFuture.supplyAsync(() -> {
            try {
                return client.getInputStream().read();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        peer.getOutputStream().write(5);
        assertThat(read.get(60, TimeUnit.SECONDS)).isEqualTo(5);
    }

    @Test
    void theEndIsReadAsEver() throws Exception {
        InputStream in = client.getInputStream();
        peer.close();
        client.setSoTimeout(0);
        assertThat(in.read()).isEqualTo(-1);
    }

    @Test
    void theDriverMakesThemByNameAndHearsThroughThem() throws Exception {
        DriverDataSource database = new DriverDataSource(TestDatabase.POSTGRES.newUrl());
        DriverDataSource prompt = database.with("socketFactory", PromptSocketFactory.class.getName());
        try (Connection listening = prompt.getConnection();
                Connection telling = database.getConnection();
                Statement listen = listening.createStatement();
                Statement tell = telling.createStatement()) {
            listen.execute("LISTEN news");
            for (String news : List.of("one", "two", "three")) {
                tell.execute("NOTIFY news, '" + news + "'");
                PGNotification[] heard = listening.unwrap(PGConnection.class).getNotifications(30_000);
                assertThat(heard).extracting(PGNotification::getParameter).containsExactly(news);
            }
        }
        assertThatThrownBy(
                        () -> database.with("socketFactory", "no.such.Sockets").getConnection())
                .isInstanceOf(SQLException.class);
    }
}
