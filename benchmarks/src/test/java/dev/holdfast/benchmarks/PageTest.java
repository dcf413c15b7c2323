package dev.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The page that is checked in, and the template that the next run writes it from. */
class PageTest {

    @ParameterizedTest
    @CsvSource({
        "# Benchmarks, ## How it is measured",
        "## What bounds the figures, ''",
    })
    @DisplayName("What people wrote into a page stands in its template too, or the next run would drop it")
    void prose(String from, String to) throws IOException {
        assertThat(between(Files.readString(Path.of("..", "docs", "benchmarks.md")), from, to))
                .isEqualTo(between(Page.template("page.md"), from, to));
    }

    private static String between(String text, String from, String to) {
        assertThat(text).contains(from, to);
        int start = text.indexOf(from);
        return text.substring(start, to.isEmpty() ? text.length() : text.indexOf(to, start));
    }
}
