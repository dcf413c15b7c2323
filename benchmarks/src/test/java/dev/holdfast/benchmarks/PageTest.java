package dev.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The pages that are checked in, and the templates that the next run writes them from. */
class PageTest {

    @ParameterizedTest
    @CsvSource({
        "page.md, benchmarks.md, # Benchmarks, ## How it is measured",
        "page.md, benchmarks.md, ## What bounds the figures, ''",
    })
    @DisplayName("What people wrote into a page stands in its template too, or the next run would drop it")
    void prose(String template, String page, String from, String to) throws IOException {
        assertThat(between(Files.readString(Path.of("..", "docs", page)), from, to))
                .isEqualTo(between(Page.template(template), from, to));
    }

    private static String between(String text, String from, String to) {
        assertThat(text).contains(from, to);
        int start = text.indexOf(from);
        return text.substring(start, to.isEmpty() ? text.length() : text.indexOf(to, start));
    }
}
