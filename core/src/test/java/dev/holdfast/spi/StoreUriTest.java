package dev.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StoreUriTest {

    @Test
    void partsAreSchemeRestAndParametersInTheirOrder() {
        StoreUri uri = StoreUri.parse("PostgreSQL://host:5432/db?z=1&a=%20b%2B+c&empty=");

        assertThat(uri.scheme()).isEqualTo("postgresql");
        assertThat(uri.rest()).isEqualTo("//host:5432/db");
        assertThat(uri.parameters()).containsExactly(entry("z", "1"), entry("a", " b++c"), entry("empty", ""));
    }

    @Test
    void pathMayHoldBlanksAndPlusSigns() {
        StoreUri uri = StoreUri.parse("sqlite:/var/my locks/a+b.db");
        assertThat(uri.rest()).isEqualTo("/var/my locks/a+b.db");
        assertThat(uri).hasToString("sqlite:/var/my locks/a+b.db");
    }

    @Test
    void nestedUrisKeepTheirOwnQueries() {
        StoreUri uri = StoreUri.parse("quorum:(redis://a?db=1,redis://b?db=2)?wait=3");
        assertThat(uri.rest()).isEqualTo("(redis://a?db=1,redis://b?db=2)");
        assertThat(uri.parameters()).containsExactly(entry("wait", "3"));
        assertThat(StoreUri.parse("quorum:(redis://a?db=1)").parameters()).isEmpty();
    }

    @Test
    void parenthesisInAPlainUriHidesNoParameter() {
        assertThat(StoreUri.parse("redis://h?a=1)&b=2").parameters())
                .containsExactly(entry("a", "1)"), entry("b", "2"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", ":", "sqlite", "1a:", "-a:", "a b:", " a:", "ä:", "a:?x", "a:?=1", "a:?b=1&", "a:?b=%2"})
    void whatIsMalformedIsRefused(String uri) {
        assertThatThrownBy(() -> StoreUri.parse(uri)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void parameterThatIsGivenTwiceIsRefused() {
        assertThatThrownBy(() -> StoreUri.parse("a:?x=1&%78=2"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'x' is set twice");
    }

    @Test
    void unknownParameterIsRefusedWithTheKnownOnes() {
        StoreUri uri = StoreUri.parse("a:?tll=1");
        assertThatThrownBy(() -> uri.allowOnly(Set.of("ttl", "db")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("tll", "[db, ttl]");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            redis://ann:s3cret@h:1/2                   | redis://***@h:1/2
            redis://h:1/2                              | redis://h:1/2
            redis://ann:s3/cr@t@h                      | redis://***@h
            redis-cluster://ann:s3cret@h:1,i:2,j:3     | redis-cluster://***@h:1,i:2,j:3
            mysql://h/db?user=ann&password=x&timeout=5 | mysql://h/db?user=***&password=***&timeout=5
            sqlite:/home/ann@work/locks.db             | sqlite:/home/ann@work/locks.db
            sqlite:///home/ann@work/locks.db           | sqlite:///home/ann@work/locks.db
            quorum:(redis://a:b@c,redis://d:e@f)       | quorum:(redis://***@c,redis://***@f)
            quorum:(a://b:c@d?p=1,e://f)?authKey=2     | quorum:(a://***@d?***,e://f)?authKey=***
            """)
    void credentialsAreNotShown(String uri, String shown) {
        assertThat(StoreUri.parse(uri)).hasToString(shown);
    }
}
