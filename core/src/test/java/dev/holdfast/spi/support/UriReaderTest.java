package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.UriReader.Authority;
import dev.holdfast.spi.support.UriReader.Server;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UriReaderTest {

    private static UriReader reader(String uri) {
        return new UriReader(StoreUri.parse(uri), "a store of ours", "//host[:port]");
    }

    @Test
    void readsServersAlone() {
        assertThat(reader("our://one:1,two").authority()).isEqualTo(new Authority(null, null, List.of("one:1", "two")));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {
                "our://us%3Aer:p%40s+s%2F@one, us:er, p@s+s/",
                "our://user@one, user, none",
                "our://:secret@one, '', secret",
                "our://user:@one, user, ''",
                "our://@one, '', none",
                "our://a/b:c@d@one, a/b, c@d",
            })
    void readsCredentials(String uri, String user, @Nullable String password) {
        assertThat(reader(uri).authority()).isEqualTo(new Authority(user, password, List.of("one")));
    }

    @ParameterizedTest
    @CsvSource({"our://one, ''", "our://one/, ''", "'our://u:p@one,two/a/b%20c', a/b%20c", "our://one//a, /a"})
    void readsPath(String uri, String path) {
        assertThat(reader(uri).path()).isEqualTo(path);
    }

    @Test
    void doesNotShowThePassword() {
        assertThat(reader("our://user:canary@one").authority()).hasToString("Authority[one]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"our:one", "our:/one", "our://", "our:///path", "our://one,", "our://,one", "our://u:canary@"})
    void refusesWhatIsNotOfTheForm(String uri) {
        assertThatThrownBy(reader(uri)::authority)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("A store of ours must have the form our://host[:port], not our:")
                .hasMessageNotContaining("canary");
    }

    @ParameterizedTest
    @ValueSource(strings = {"our://u%:canary@one", "our://u:canary%zz@one"})
    void refusesWhatIsNotEncodedWithoutThePassword(String uri) {
        assertThatThrownBy(reader(uri)::authority)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("percent-encoded")
                .hasMessageNotContaining("canary")
                .hasNoCause();
    }

    @ParameterizedTest
    @CsvSource({
        "host, host, 7",
        "host:1, host, 1",
        "10.0.0.1:65535, 10.0.0.1, 65535",
        "[::1], ::1, 7",
        "[fe80::1%eth0]:2, fe80::1%eth0, 2",
    })
    void readsServer(String text, String host, int port) {
        assertThat(Server.parse(text, 7)).contains(new Server(host, port));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", ":1", "[]", "[]:1", "::1", "a:b:1", "host:", "host:0", "host:-1", "host:65536", "host:x"})
    void refusesServer(String text) {
        assertThat(Server.parse(text, 7)).isEmpty();
        assertThatThrownBy(() -> reader("our://x").server(text, 7)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void usesParametersThatAreGiven() {
        List<String> used = new ArrayList<>();
        UriReader reader = reader("our://one?a=1&b=2&lonely=3");
        reader.given("a", used::add);
        reader.given("absent", used::add);
        reader.given("a", "b", (a, b) -> used.add(a + b));
        reader.given("absent", "missing", (a, b) -> used.add(a + b));
        assertThat(used).containsExactly("1", "12");
        assertThatThrownBy(() -> reader.given("lonely", "absent", (a, b) -> used.add(a + b)))
                .hasMessage("The parameter 'lonely' of a store of ours requires 'absent' as well:"
                        + " our://one?a=1&b=2&lonely=3");
        assertThatThrownBy(() -> reader.given("absent", "lonely", (a, b) -> used.add(a + b)))
                .hasMessageContaining("'lonely' of a store of ours requires 'absent'");
    }

    @Test
    void readsDuration() {
        UriReader reader = reader("our://one");
        assertThat(reader.duration("timeout", "PT1M")).isEqualTo(Duration.ofMinutes(1));
        assertThatThrownBy(() -> reader.duration("timeout", "5"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("The parameter 'timeout' of a store of ours must be a duration such as PT5S: our://one");
    }
}
