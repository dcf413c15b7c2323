package dev.holdfast.verification;

import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.sim.Rule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

@DisplayName("Each guarantee of the page is tested, and a list says where")
class GuaranteesTest {

    private static final Path ROOT = Path.of("..");
    private static final Path LIST = Path.of("src/test/resources/tests-of-guarantees.txt");
    private static final String SIMULATION = "simulation";
    private static final Pattern ROW = Pattern.compile("(?m)^\\| ([A-Z]\\d+) \\| .*\\|$");
    private static final Pattern TAG = Pattern.compile("@Tag\\(\"([A-Z]\\d+)\"\\)");
    private static final Pattern RULE_OF_THE_KIT = Pattern.compile("@DisplayName\\(\\s*\"([A-Z]\\d+): ");

    @TestFactory
    Stream<DynamicTest> everyGuaranteeIsTestedWhereTheListSays() throws IOException {
        Map<String, Set<String>> tagged = tagsOfTests();
        Set<String> simulated = Arrays.stream(Rule.values()).map(Rule::number).collect(toSet());
        List<String> ofClients = guarantees();
        assertThat(ofClients).hasSizeGreaterThan(60).doesNotHaveDuplicates().containsAll(tagged.keySet());
        ofClients.removeAll(rulesOfTheKit());
        Map<String, Set<String>> listed = listed();
        assertThat(listed.keySet())
                .as("the guarantees that %s lists, and those of the page that the kit does not test", LIST)
                .containsExactlyInAnyOrderElementsOf(ofClients);
        return ofClients.stream()
                .map(number -> DynamicTest.dynamicTest(number, () -> {
                    Set<String> where = new HashSet<>(listed.getOrDefault(number, Set.of()));
                    assertThat(where).as("where %s is tested", number).isNotEmpty();
                    assertThat(where.remove(SIMULATION))
                            .as("an oracle of the simulation looks after %s", number)
                            .isEqualTo(simulated.contains(number));
                    assertThat(where)
                            .as("the test classes that %s lists for %s, and those with its tag", LIST, number)
                            .isEqualTo(tagged.getOrDefault(number, Set.of()));
                }));
    }

    private static List<String> guarantees() {
        return ROW.matcher(text(ROOT.resolve("docs/guarantees.md")))
                .results()
                .map(row -> row.group(1))
                .collect(toCollection(ArrayList::new));
    }

    private static Map<String, Set<String>> listed() {
        return text(LIST)
                .lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> List.of(line.split(" ")))
                .collect(toMap(line -> line.get(0), line -> Set.copyOf(line.subList(1, line.size()))));
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
