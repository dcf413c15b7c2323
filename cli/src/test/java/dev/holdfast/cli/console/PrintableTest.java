package dev.holdfast.cli.console;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrintableTest {

    @ParameterizedTest
    @ValueSource(strings = {"", "nightly-report", "two words", "Größe", "日本語", "🔒", "👩‍🚀", "שלום", "a/b:c@d=e%20"})
    void leavesTextAlone(String text) {
        assertThat(Printable.escape(text)).isEqualTo(text);
    }

    @Test
    void disarmsWhatATerminalWouldObey() {
        assertThat(Printable.escape("a\u001b[31mb")).isEqualTo("a\\u001b[31mb");
        assertThat(Printable.escape("a\u009b31m")).isEqualTo("a\\u009b31m");
        assertThat(Printable.escape("a\rb\nc\td\u0007\b\u007f\u0000"))
                .isEqualTo("a\\rb\\nc\\td\\u0007\\u0008\\u007f\\u0000");
    }

    @Test
    void disarmsWhatReordersOrHides() {
        assertThat(Printable.escape("\u202Etxt.exe\u202C")).isEqualTo("\\u202etxt.exe\\u202c");
        assertThat(Printable.escape("a\u200bb\u2066c\u00adz\ufeff")).isEqualTo("a\\u200bb\\u2066c\\u00adz\\ufeff");
        assertThat(Printable.escape("a\u2028b\u00a0c\u3000d")).isEqualTo("a\\u2028b\\u00a0c\\u3000d");
        assertThat(Printable.escape("\uD83D")).isEqualTo("\\ud83d");
        assertThat(Printable.escape(new String(Character.toChars(0xE0041)))).isEqualTo("\\u{e0041}");
    }

    @Test
    void isUnambiguous() {
        assertThat(Printable.escape("a\\nb")).isEqualTo("a\\\\nb").isNotEqualTo(Printable.escape("a\nb"));
        assertThat(Printable.quote("it's")).isEqualTo("'it\\'s'");
        assertThat(Printable.quote("x': held by root")).isEqualTo("'x\\': held by root'");
    }

    @Test
    void nothingInTheResultIsDangerous() {
        StringBuilder all = new StringBuilder();
        for (int codePoint = 0; codePoint <= Character.MAX_CODE_POINT; codePoint++) {
            all.appendCodePoint(codePoint);
        }
        assertThat(Printable.escape(all.toString()).codePoints())
                .allMatch(c -> Printable.isPlain(c))
                .noneMatch(Character::isISOControl)
                .noneMatch(c -> c >= 0x202A && c <= 0x202E);
    }

    @Test
    void cutsBetweenCharactersOnly() {
        assertThat(Printable.cut("abcdef", 6)).isEqualTo("abcdef");
        assertThat(Printable.cut("abcdefg", 6)).isEqualTo("abcde…");
        assertThat(Printable.cut("ab\u001bcd", 6)).isEqualTo("ab…");
        assertThat(Printable.cut("🔒🔒🔒🔒", 4)).isEqualTo("🔒…");
        assertThat(Printable.cut("🔒🔒", 4)).isEqualTo("🔒🔒");
        assertThat(Printable.cut("", 1)).isEmpty();
    }
}
