package dev.holdfast.verification.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The page on the architecture")
class ArchitecturePageTest {

    private static final Path ROOT = Path.of("..");
    private static final Pattern MODULE = Pattern.compile("<module>([^<]*)</module>");
    private static final Pattern PACKAGE = Pattern.compile("src/main/java/dev/holdfast/(.*)/package-info[.]java$");

    private final String page = read("docs/architecture.md");

    private static String read(String file) {
        try {
            return Files.readString(ROOT.resolve(file));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @DisplayName("names each module of the build")
    void modules() {
        String pom = read("pom.xml");
        List<String> modules = MODULE.matcher(pom.substring(0, pom.indexOf("</modules>")))
                .results()
                .map(found -> found.group(1))
                .toList();
        assertThat(modules).hasSizeGreaterThan(10).allSatisfy(this::expectNamed);
    }

    @Test
    @DisplayName("names each package of the main code")
    void packages() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            List<String> packages = files.map(file -> file.toString().replace('\\', '/'))
                    .filter(file -> !file.contains("/target/"))
                    .flatMap(file -> PACKAGE.matcher(file).results())
                    .map(ArchitecturePageTest::shortName)
                    .toList();
            assertThat(packages).hasSizeGreaterThan(30).allSatisfy(this::expectNamed);
        }
    }

    private static String shortName(MatchResult found) {
        return found.group(1).replace('/', '.');
    }

    private void expectNamed(String what) {
        assertThat(page).as("the page").contains("`" + what + "`");
    }
}
