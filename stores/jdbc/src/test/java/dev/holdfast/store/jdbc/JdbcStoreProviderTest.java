package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.spi.StoreUri;
import java.net.URI;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The URIs of databases")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class JdbcStoreProviderTest {

    @Test
    @DisplayName("postgresql: opens a store that tells of grants, and makes its tables")
    void postgresql() throws InterruptedException {
        String url = PostgresServer.shared().newDatabase();
        try (Holdfast one = Holdfast.connect(uri(url));
                Holdfast other = Holdfast.connect(uri(url));
                Hold hold = one.lock("nightly").acquire()) {
            assertThat(hold.fencingToken()).isPositive();
            assertThat(other.lock("nightly").tryLock()).isFalse();
        }
    }

    @Test
    @DisplayName("mariadb: opens a store with tables of the name that is asked for")
    void mariadb() throws InterruptedException {
        String url = MariaDbOrMysql.shared().newDatabase();
        String uri = uri(url).replace("?", "?prefix=shop_locks_&");
        try (Holdfast one = Holdfast.connect(uri);
                Holdfast other = Holdfast.connect(uri);
                Hold hold = one.lock("nightly").acquire()) {
            assertThat(hold.fencingToken()).isPositive();
            assertThat(other.lock("nightly").tryLock()).isFalse();
        }
    }

    /** As a user would write it. */
    private static String uri(String jdbc) {
        URI parsed = URI.create(jdbc.substring("jdbc:".length()));
        String user = parsed.getQuery().replaceAll(".*user=([^&]*).*", "$1");
        return parsed.getScheme() + "://" + user + "@" + parsed.getAuthority() + parsed.getPath()
                + switch (parsed.getScheme()) {
                    case "mariadb" -> "?sslMode=disable";
                    case "mysql" -> "?sslMode=REQUIRED";
                    default -> "?sslmode=disable";
                };
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "postgresql:shop",
                "postgresql://",
                "postgresql://host",
                "postgresql://host/",
                "postgresql://host:port/shop",
                "postgresql://host:70000/shop",
                "postgresql://a:b:c/shop",
                "postgresql://u:canary@host/shop%3FsocketFactory=evil",
                "mysql://host/shop?autoDeserialize=true",
                "mariadb://host/shop?localInfile=true",
                "postgresql://host/shop?socketFactory=evil",
                "postgresql://u:canary@host/shop?initialize=maybe",
                "postgresql://u:canary@host/shop?timeout=5",
                "postgresql://u:canary@host/shop?prefix=a-b",
                "postgresql://u:canary%zz@host/shop",
            })
    @DisplayName("what is not of the form is refused before anything is opened, without the password")
    void malformed(String uri) {
        assertThatThrownBy(() -> DatabaseUris.builder(StoreUri.parse(uri)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasNoCause()
                .hasMessageNotContaining("canary");
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "[::1]", "localhost"})
    @DisplayName("a server that is not there is told in time, without the password")
    void nobodyThere(String host) {
        assertThatThrownBy(() -> Holdfast.connect("postgresql://u:canary@" + host + ":1/shop"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageNotContaining("canary");
    }
}
