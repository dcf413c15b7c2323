package dev.holdfast.verification;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.KnownStores;
import dev.holdfast.spi.KnownStores.KnownStore;
import dev.holdfast.spi.StoreProvider;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The page on how to add a store")
class AddAStorePageTest {

    private static final Path ROOT = Path.of("..");

    /** A row of the table, whose first cell names files. */
    private static final Pattern ROW = Pattern.compile("(?m)^\\| ((?:`[^`]+`(?:, )?)+) \\|");

    private static final Pattern FILE = Pattern.compile("`([^`]+)`");

    /** The one file among tests that has to know each module. */
    private static final Path RULES =
            ROOT.resolve("verification/src/test/java/dev/holdfast/verification/architecture/Module.java");

    /** Directories of what is built, and of what only uses or describes stores. */
    private static final Set<String> SKIPPED = Set.of("target", ".git", ".holdfast-cli", "docs", "examples", "testkit");

    private final List<String> rows = rows();

    private static List<String> rows() {
        try {
            return ROW.matcher(Files.readString(ROOT.resolve("docs/add-a-store.md")))
                    .results()
                    .map(found -> found.group(1))
                    .toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @DisplayName("lists at most ten places")
    void atMostTen() {
        assertThat(rows).hasSizeBetween(2, 10);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"etcd", "zookeeper"})
    @DisplayName("lists all files outside of the modules of stores that name a store")
    void namesEachFile(String store) throws IOException {
        assertThat(filesThatName(store))
                .isNotEmpty()
                .allSatisfy(file -> assertThat(patterns(store)).as(file).anyMatch(pattern -> matches(pattern, file)));
    }

    @Test
    @DisplayName("lists no file that is not there or does not name the store")
    void namesNoOther() throws IOException {
        List<String> etcd = filesThatName("etcd");
        List<String> zookeeper = filesThatName("zookeeper");
        assertThat(rows.stream().flatMap(row -> FILE.matcher(row).results()))
                .map(found -> found.group(1))
                .allSatisfy(pattern -> assertThat(etcd.stream()
                                        .anyMatch(file -> matches(pattern.replace("NAME", "etcd"), file))
                                || zookeeper.stream()
                                        .anyMatch(file -> matches(pattern.replace("NAME", "zookeeper"), file)))
                        .as(pattern)
                        .isTrue());
    }

    @Test
    @DisplayName("is right that a store is known as its provider describes it")
    void knownStores() {
        List<KnownStore> described = ServiceLoader.load(StoreProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .map(provider -> new KnownStore(provider.getClass().getName(), provider.description()))
                .toList();
        assertThat(KnownStores.ALL).containsExactlyInAnyOrderElementsOf(described);
    }

    private Stream<String> patterns(String store) {
        return rows.stream()
                .flatMap(row -> FILE.matcher(row).results())
                .map(found -> found.group(1).replace("NAME", store));
    }

    /** Whether it is the file, or below the directory; an asterisk stands for a part of a file's name. */
    private static boolean matches(String pattern, String file) {
        String quoted = Pattern.quote(pattern).replace("*", "\\E[^/]*\\Q");
        return Pattern.compile(quoted + (pattern.endsWith("/") ? ".*" : ""), Pattern.CASE_INSENSITIVE)
                .matcher(file)
                .matches();
    }

    private static List<String> filesThatName(String store) throws IOException {
        List<String> files = new ArrayList<>();
        for (Path start : List.of(ROOT, RULES)) {
            collect(start, store, files);
        }
        return files;
    }

    private static void collect(Path start, String store, List<String> files) throws IOException {
        Files.walkFileTree(start, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                String name = directory.getFileName().toString();
                return SKIPPED.contains(name)
                                || directory.endsWith("src/test")
                                || ROOT.resolve("stores").equals(directory)
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (!file.toString().endsWith(".md") && names(file, store)) {
                    files.add(ROOT.relativize(file).toString().replace('\\', '/'));
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** Whether the name of the file or its text, without comments of Java, has the name of a store. */
    private static boolean names(Path file, String store) throws IOException {
        // Files that are no text are read without an error.
        String text = Files.readString(file, StandardCharsets.ISO_8859_1);
        return file.getFileName().toString().toLowerCase(Locale.ROOT).contains(store)
                || text.lines()
                        .filter(line -> !line.strip().matches("(//|/\\*|\\*).*") && !line.startsWith("#"))
                        .anyMatch(line -> line.toLowerCase(Locale.ROOT).contains(store));
    }
}
