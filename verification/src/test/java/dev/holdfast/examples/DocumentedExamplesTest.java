package dev.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class DocumentedExamplesTest {

    private static final Pattern JAVA_BLOCK =
            Pattern.compile("^```java\\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);

    private static final Pattern NAME = Pattern.compile("\\bdev\\.holdfast\\.(?:[a-z]+\\.)*[A-Z]\\w*");
    private static final Pattern EVENT = Pattern.compile("@Name\\(\"(dev\\.holdfast\\.\\w+)\"\\)");

    @Test
    @DisplayName("Every piece of Java that the documentation shows is part of a source file that is compiled here")
    void examplesAreCompiled() throws IOException {
        Path root = root();
        List<String> sources = new ArrayList<>();
        for (Path source : find(root, ".java")) {
            sources.add(normalised(Files.readString(source)));
        }
        int examples = 0;
        for (Path page : find(root, ".md")) {
            Matcher block = JAVA_BLOCK.matcher(Files.readString(page));
            while (block.find()) {
                examples++;
                String example = normalised(block.group(1));
                assertThat(sources.stream().anyMatch(source -> source.contains(example)))
                        .as("an example in %s stands in no source file:%n%s", root.relativize(page), block.group(1))
                        .isTrue();
            }
        }
        assertThat(examples).isPositive();
    }

    @Test
    @DisplayName("Every class, logger and event that the documentation names exists")
    void namesExist() throws IOException {
        Path root = root();
        Set<String> known = new HashSet<>();
        for (Path source : find(root, ".java")) {
            String path = source.toString().replace(File.separatorChar, '/');
            known.add(path.replaceFirst(".*/java/", "").replace(".java", "").replace('/', '.'));
            EVENT.matcher(Files.readString(source)).results().forEach(event -> known.add(event.group(1)));
        }
        for (Path page : find(root, ".md")) {
            assertThat(NAME.matcher(Files.readString(page)).results().map(MatchResult::group))
                    .as("names in %s", root.relativize(page))
                    .isSubsetOf(known);
        }
    }

    private static List<Path> find(Path root, String ending) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(ending))
                    .filter(file -> !root.relativize(file).toString().contains("target"))
                    .toList();
        }
    }

    /** Without blanks and line ends: the formatter sets them, and pages are narrower than code. */
    private static String normalised(String text) {
        return text.replaceAll("\\s+", "");
    }

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("mvnw"))) {
            folder = folder.getParent();
        }
        return folder;
    }
}
