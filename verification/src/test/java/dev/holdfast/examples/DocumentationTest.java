package dev.holdfast.examples;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The pages of the documentation")
class DocumentationTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    /**
     * The most words that a page may have. A page that needs more either repeats what another page says, or is two
     * pages. Decisions (docs/adr) have no limit: they are not rewritten.
     */
    private static final Map<String, Integer> LIMITS = limits("""
            CHANGELOG.md 1150
            CONTRIBUTING.md 920
            README.md 900
            SECURITY.md 350
            docs/add-a-store.md 275
            docs/architecture.md 1925
            docs/benchmarks.md 2800
            docs/choosing.md 600
            docs/cli.md 2350
            docs/configuration.md 1525
            docs/console.md 850
            docs/deadlocks.md 900
            docs/faq.md 525
            docs/getting-started.md 800
            docs/glossary.md 725
            docs/guarantees.md 7950
            docs/index.md 300
            docs/installation.md 550
            docs/integrations/java-util-concurrent.md 275
            docs/integrations/shedlock.md 475
            docs/integrations/spring-boot.md 1550
            docs/integrations/spring-integration.md 575
            docs/integrations/spring.md 1575
            docs/migrating/curator.md 425
            docs/migrating/hazelcast.md 250
            docs/migrating/jetcd.md 300
            docs/migrating/redisson.md 500
            docs/observing.md 900
            docs/operations.md 1925
            docs/peers.md 425
            docs/primitives/barrier.md 500
            docs/primitives/election.md 625
            docs/primitives/fairness.md 550
            docs/primitives/fence-guard.md 525
            docs/primitives/latch.md 375
            docs/primitives/multi-lock.md 375
            docs/primitives/optimistic-version.md 400
            docs/primitives/read-write-lock.md 325
            docs/primitives/row-lock.md 675
            docs/primitives/semaphore.md 575
            docs/primitives/task.md 650
            docs/recipes.md 400
            docs/registers.md 875
            docs/releasing.md 300
            docs/simulation.md 675
            docs/stores/etcd.md 825
            docs/stores/mysql.md 575
            docs/stores/postgresql.md 1175
            docs/stores/quorum.md 850
            docs/stores/redis-cluster.md 475
            docs/stores/redis.md 1100
            docs/stores/sqlite.md 1425
            docs/stores/zookeeper.md 1000
            docs/testing.md 1000
            docs/troubleshooting.md 1825
            examples/leader/README.md 200
            examples/stock/README.md 250
            examples/takeover/README.md 300
            """);

    private static final int LIMIT_OF_ALL = 51_500;

    /**
     * Words of a foreign kind of English, in all pages together: a plainer word is "notify", "poll", "retry", "no one",
     * "whatever happens", "release".
     */
    private static final Pattern LISTED = Pattern.compile(
            "\\b(tells?|told|telling|looks?|looked|looking|goes on|go on|went on|going on|(?<!round )trips?|whoever|whatever|so many"
                    + "|so long|so often|anew|beside|nobody|asks? again|asked again|comes? up|takes? in|gives? back"
                    + "|gave back|given back|giving back|(be|is|are|was) over|(be|is|are|was|were) gone|the like"
                    + "|of its own|in vain|by itself|at the most|a word of|none of which|that is none)\\b",
            Pattern.CASE_INSENSITIVE);

    private static final int MOST_LISTED = 40;

    private static final Pattern CODE_BLOCK = Pattern.compile("^ *```.*?^ *```$", Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);

    private final Map<Path, String> pages = pages();

    @Test
    @DisplayName("link to files and headings that exist")
    void linksWork() {
        List<String> broken = new ArrayList<>();
        pages.forEach((page, text) -> links(text).forEach(link -> {
            Path target = target(page, link);
            String anchor = link.replaceFirst("[^#]*#?", "");
            if (!Files.exists(target) || !anchor.isEmpty() && !anchors(target).contains(anchor)) {
                broken.add(ROOT.relativize(page) + ": " + link);
            }
        }));
        assertThat(broken).isEmpty();
    }

    @Test
    @DisplayName("can all be reached from the index")
    void areReachable() {
        Set<Path> reached = new HashSet<>();
        Deque<Path> next = new ArrayDeque<>(List.of(ROOT.resolve("docs/index.md")));
        while (!next.isEmpty()) {
            Path page = next.remove();
            if (reached.add(page)) {
                if (Files.isDirectory(page)) {
                    pages.keySet().stream()
                            .filter(other -> page.equals(other.getParent()))
                            .forEach(next::add);
                }
                links(pages.getOrDefault(page, "")).forEach(link -> next.add(target(page, link)));
            }
        }
        assertThat(reached).containsAll(pages.keySet());
    }

    @Test
    @DisplayName("stay short, each and all together")
    void areShort() throws IOException {
        Map<String, Integer> lengths = new TreeMap<>();
        for (Path page : pages.keySet()) {
            String name = ROOT.relativize(page).toString().replace('\\', '/');
            if (!name.startsWith("docs/adr/")) {
                lengths.put(name, Files.readString(page).strip().split("\\s+").length);
            }
        }
        assertThat(lengths.keySet()).as("pages with a limit").isEqualTo(LIMITS.keySet());
        assertThat(lengths)
                .allSatisfy((page, words) ->
                        assertThat(words).as("words of %s", page).isLessThanOrEqualTo(LIMITS.get(page)));
        assertThat(lengths.values().stream().mapToInt(Integer::intValue).sum())
                .as("words of all pages")
                .isLessThanOrEqualTo(LIMIT_OF_ALL);
    }

    @Test
    @DisplayName("are in plain English")
    void arePlain() {
        List<String> found = pages.entrySet().stream()
                .filter(page -> !page.getKey().startsWith(ROOT.resolve("docs/adr")))
                .flatMap(page -> LISTED.matcher(page.getValue())
                        .results()
                        .map(word -> ROOT.relativize(page.getKey()) + ": " + word.group()))
                .toList();
        assertThat(found).hasSizeLessThanOrEqualTo(MOST_LISTED);
    }

    private static Stream<String> links(String text) {
        return LINK.matcher(text).results().map(link -> link.group(1)).filter(link -> !link.startsWith("http"));
    }

    private static Path target(Path page, String link) {
        String file = link.replaceFirst("#.*", "");
        return file.isEmpty() ? page : page.resolveSibling(file).normalize();
    }

    private Set<String> anchors(Path target) {
        return Set.copyOf(HEADING.matcher(pages.getOrDefault(target, ""))
                .results()
                .map(heading -> anchor(heading.group(1)))
                .toList());
    }

    /** As GitHub makes it from a heading. */
    private static String anchor(String heading) {
        return heading.replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
                .strip()
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\w\\- ]", "")
                .replace(' ', '-');
    }

    /** The pages that people read, without their blocks of code. */
    private static Map<Path, String> pages() {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(DocumentationTest::isPage)
                    .collect(toMap(
                            page -> page, page -> CODE_BLOCK.matcher(read(page)).replaceAll("")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isPage(Path file) {
        String name = ROOT.relativize(file).toString().replace('\\', '/');
        return name.matches("[A-Z]+\\.md|docs/.*\\.md|examples/[^/]+/README\\.md");
    }

    private static Map<String, Integer> limits(String table) {
        return table.lines()
                .map(line -> line.strip().split(" "))
                .collect(toMap(words -> words[0], words -> Integer.valueOf(words[1])));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
