package dev.holdfast.verification;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.sim.Rule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

@DisplayName("The page of the guarantees says where each one is tested")
class GuaranteesTest {

    private static final Path ROOT = Path.of("..");
    private static final Pattern ROW = Pattern.compile("^\\| ([A-Z]\\d+) \\| .*\\| ([^|]*) \\|$");
    private static final Pattern CLASS = Pattern.compile("`(\\w+Test)`");
    private static final Pattern TAG = Pattern.compile("@Tag\\(\"([A-Z]\\d+)\"\\)");
    private static final Pattern RULE_OF_THE_KIT = Pattern.compile("@DisplayName\\(\\s*\"([A-Z]\\d+): ");

    @TestFactory
    Stream<DynamicTest> everyGuaranteeIsTestedWhereThePageSays() throws IOException {
        Map<String, Set<String>> tagged = tagsOfTests();
        Set<String> kit = rulesOfTheKit();
        Set<String> simulated = Arrays.stream(Rule.values()).map(Rule::number).collect(toSet());
        List<String[]> rows = rows();
        assertThat(rows).hasSizeGreaterThan(60);
        List<String> numbers = rows.stream().map(row -> row[0]).toList();
        assertThat(numbers).doesNotHaveDuplicates().containsAll(tagged.keySet());
        return rows.stream()
                .map(row -> DynamicTest.dynamicTest(row[0], () -> {
                    if (!kit.contains(row[0])) {
                        assertThat(row[1])
                                .as("where %s is tested, which is no rule of the kit", row[0])
                                .matches(where -> where.startsWith("simulation")
                                        || !named(where).isEmpty());
                        assertThat(named(row[1]))
                                .as("the test classes with the tag %s, and those on the page", row[0])
                                .isEqualTo(tagged.getOrDefault(row[0], Set.of()));
                        assertThat(row[1].startsWith("simulation"))
                                .as("an oracle of the simulation looks after %s", row[0])
                                .isEqualTo(simulated.contains(row[0]));
                    }
                }));
    }

    private static List<String[]> rows() throws IOException {
        return Files.readAllLines(ROOT.resolve("docs/guarantees.md")).stream()
                .map(ROW::matcher)
                .filter(java.util.regex.Matcher::matches)
                .map(row -> new String[] {row.group(1), row.group(2)})
                .toList();
    }

    private static Set<String> named(String tested) {
        return CLASS.matcher(tested).results().map(name -> name.group(1)).collect(toSet());
    }

    /** The names of the test classes with each tag. */
    private static Map<String, Set<String>> tagsOfTests() throws IOException {
        Map<String, Set<String>> found = new HashMap<>();
        for (Path source : sources("/src/test/java/")) {
            String type = source.getFileName().toString().replace(".java", "");
            TAG.matcher(text(source))
                    .results()
                    .forEach(tag -> found.computeIfAbsent(tag.group(1), number -> new TreeSet<>())
                            .add(type));
        }
        return found;
    }

    private static Set<String> rulesOfTheKit() throws IOException {
        return sources("/testkit/src/main/java/").stream()
                .flatMap(source -> RULE_OF_THE_KIT.matcher(text(source)).results())
                .map(rule -> rule.group(1))
                .collect(toSet());
    }

    private static List<Path> sources(String below) throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(file -> file.toString().endsWith(".java")
                            && file.toUri().getPath().contains(below))
                    .toList();
        }
    }

    private static String text(Path source) {
        try {
            return Files.readString(source);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
