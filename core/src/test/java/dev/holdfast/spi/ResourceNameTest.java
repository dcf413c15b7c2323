package dev.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class ResourceNameTest {

    /** Names in which the order of UTF-16 and that of UTF-8 differ are likely. */
    @Provide
    Arbitrary<ResourceName> names() {
        Arbitrary<Integer> codePoints = Arbitraries.oneOf(
                Arbitraries.integers().between('a', 'c'),
                Arbitraries.of(0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x1d11e, 0x10ffff),
                Arbitraries.integers().between(0, 0x10ffff).filter(c -> c < 0xd800 || c > 0xdfff));
        return codePoints
                .list()
                .ofMinSize(1)
                .ofMaxSize(6)
                .map(list -> list.stream().map(Character::toString).reduce("", String::concat))
                .filter(name -> !name.isBlank())
                .map(ResourceName::new);
    }

    @Property
    void orderIsThatOfTheUnsignedBytes(@ForAll("names") ResourceName a, @ForAll("names") ResourceName b) {
        int expected = Arrays.compareUnsigned(a.utf8(), b.utf8());

        assertThat(Integer.signum(a.compareTo(b))).isEqualTo(Integer.signum(expected));
        assertThat(a.equals(b)).isEqualTo(expected == 0);
        assertThat(a.compareTo(b) == 0).isEqualTo(a.equals(b));
        if (a.equals(b)) {
            assertThat(a.hashCode()).isEqualTo(b.hashCode());
        }
    }

    @Property
    void limitIsInBytesOfUtf8(@ForAll("names") ResourceName part) {
        String text = part.value().repeat(600);
        int fits = 0;
        while (text.substring(0, text.offsetByCodePoints(0, fits + 1)).getBytes(StandardCharsets.UTF_8).length
                <= ResourceName.MAX_BYTES) {
            fits++;
        }
        String longest = text.substring(0, text.offsetByCodePoints(0, fits));
        String tooLong = text.substring(0, text.offsetByCodePoints(0, fits + 1));

        if (!longest.isBlank()) {
            assertThat(new ResourceName(longest).utf8()).hasSizeLessThanOrEqualTo(ResourceName.MAX_BYTES);
        }
        assertThatThrownBy(() -> new ResourceName(tooLong)).isInstanceOf(IllegalArgumentException.class);
    }

    @Property
    void whatIsShownIsPrintableAndOtherwiseTheSame(@ForAll String text) {
        String shown = ResourceName.printable(text);

        assertThat(shown.codePoints().noneMatch(Character::isISOControl)).isTrue();
        assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(shown)).isTrue();
        assertThat(ResourceName.printable(shown)).isEqualTo(shown);
    }

    @Test
    void unprintableCharactersAreNamed() {
        assertThat(ResourceName.printable("a\nb\u202e\u0000\u2028\ud834x"))
                .isEqualTo("a<U+000A>b<U+202E><U+0000><U+2028><U+D834>x");
        assertThat(ResourceName.printable("Größe 語 𝄞 / 100 %")).isEqualTo("Größe 語 𝄞 / 100 %");
        assertThat(new ResourceName("a\tb")).hasToString("a<U+0009>b");
    }
}
