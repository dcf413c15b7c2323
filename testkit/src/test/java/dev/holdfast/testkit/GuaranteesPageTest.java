package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.sim.Rule;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The page of the guarantees and the kit name the same rules. */
class GuaranteesPageTest {

    /** A rule of the page; only the rules of a store have a third column, which says how the kit tests them. */
    private static final Pattern ROW =
            Pattern.compile("^\\| ([A-Z]\\d+) \\| [^|]* \\|( [^|]* \\|)?$", Pattern.MULTILINE);

    @Test
    void everyGuaranteeOfAStoreHasATestAndNoOtherIsTested() throws IOException {
        assertThat(documented(true)).doesNotHaveDuplicates();
        assertThat(new TreeSet<>(documented(false))).isEqualTo(tested());
    }

    @Test
    void everyTestHasATitleOfItsOwn() {
        assertThat(titles()).doesNotHaveDuplicates().hasSizeGreaterThan(60);
    }

    @Test
    void everyRuleThatTheSimulationNamesIsOnThePage() throws IOException {
        List<String> named = Stream.of(Rule.values())
                .map(Rule::number)
                .filter(number -> !number.isEmpty())
                .toList();
        assertThat(named).doesNotHaveDuplicates().hasSizeGreaterThan(20);
        assertThat(documented(true)).containsAll(named);
    }

    private static List<String> documented(boolean withClients) throws IOException {
        Path page = Path.of(System.getProperty("basedir", "."))
                .toAbsolutePath()
                .resolveSibling("docs")
                .resolve("guarantees.md");
        Matcher row = ROW.matcher(Files.readString(page));
        List<String> numbers = new ArrayList<>();
        while (row.find()) {
            if (withClients || row.group(2) != null) {
                numbers.add(row.group(1));
            }
        }
        return numbers;
    }

    private static TreeSet<String> tested() {
        TreeSet<String> numbers = new TreeSet<>();
        titles().forEach(title -> numbers.add(title.substring(0, title.indexOf(':'))));
        return numbers;
    }

    private static List<String> titles() {
        List<String> titles = new ArrayList<>();
        for (Class<?> group : LockStoreConformance.class.getDeclaredClasses()) {
            for (Method method : group.getSuperclass().getDeclaredMethods()) {
                if (method.isAnnotationPresent(Test.class)) {
                    titles.add(method.getAnnotation(DisplayName.class).value());
                }
            }
        }
        return titles;
    }
}
