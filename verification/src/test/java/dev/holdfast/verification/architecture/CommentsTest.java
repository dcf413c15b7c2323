package dev.holdfast.verification.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Comments in the Java code of all modules")
class CommentsTest {

    /** The formatter keeps the code within this, and leaves comments as they are. */
    private static final int WIDTH = 120;

    private static final Pattern COMMENT = Pattern.compile("\\s*(/\\*|\\*|//).*");

    @Test
    @DisplayName("are at most 120 characters wide")
    void width() throws IOException {
        List<String> tooWide;
        try (Stream<Path> all = Files.walk(Path.of(".."))) {
            List<Path> sources = all.filter(file -> file.toString().matches(".*/src/(main|test|projects)/.*\\.java"))
                    .toList();
            assertThat(sources).hasSizeGreaterThan(500);
            tooWide = sources.stream().flatMap(CommentsTest::tooWide).toList();
        }
        assertThat(tooWide).isEmpty();
    }

    private static Stream<String> tooWide(Path file) {
        try {
            List<String> lines = Files.readAllLines(file);
            return IntStream.range(0, lines.size())
                    .filter(i -> lines.get(i).length() > WIDTH
                            && COMMENT.matcher(lines.get(i)).matches())
                    .mapToObj(i -> file + ":" + (i + 1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
