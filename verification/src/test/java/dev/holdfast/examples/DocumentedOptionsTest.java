package dev.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Holdfast;
import dev.holdfast.store.etcd.EtcdStore;
import dev.holdfast.store.jdbc.JdbcStore;
import dev.holdfast.store.quorum.QuorumStore;
import dev.holdfast.store.redis.RedisStore;
import dev.holdfast.store.sqlite.SqliteStore;
import dev.holdfast.store.zookeeper.ZooKeeperStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The documentation knows what the code knows:")
class DocumentedOptionsTest {

    private static final Path ROOT = Path.of("..");
    private static final Pattern KNOWN = Pattern.compile("the known parameters are \\[(.*)]$");
    private static final Pattern FIRST_COLUMN = Pattern.compile("^\\| (`[^|]*`) \\|", Pattern.MULTILINE);
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern CONCATENATION = Pattern.compile("\"\\s*\\+\\s*\"");

    private final String configuration = read(ROOT.resolve("docs/configuration.md"));

    @Test
    @DisplayName("each option of a builder")
    void builders() {
        Stream.of(
                        Holdfast.Builder.class,
                        AcquireOptions.class,
                        SqliteStore.Builder.class,
                        JdbcStore.Builder.class,
                        RedisStore.Builder.class,
                        EtcdStore.Builder.class,
                        ZooKeeperStore.Builder.class,
                        QuorumStore.Builder.class)
                .forEach(type -> assertThat(configuration)
                        .as("the options of %s", type.getName())
                        .contains(options(type)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sqlite:/nowhere/x",
                "postgresql://localhost/x",
                "mariadb://localhost/x",
                "mysql://localhost/x",
                "redis://localhost",
                "rediss://localhost",
                "rediss-sentinel://localhost",
                "rediss-cluster://localhost",
                "etcds://localhost",
                "zookeepers://localhost",
                "quorum:(memory:a,memory:b,memory:c)"
            })
    @DisplayName("each parameter of a URI")
    void parameters(String uri) {
        IllegalArgumentException refusal =
                catchThrowableOfType(IllegalArgumentException.class, () -> open(uri + "?nosuch=1"));
        Matcher known = KNOWN.matcher(refusal.getMessage());
        assertThat(known.find()).as(refusal.getMessage()).isTrue();
        assertThat(configuration)
                .as("the parameters of %s", uri)
                .contains(Arrays.stream(known.group(1).split(", "))
                        .map(name -> "`" + name + "`")
                        .toList());
    }

    @Test
    @DisplayName("each message that troubleshooting lists")
    void messages() throws IOException {
        String sources = sources();
        List<String> messages = FIRST_COLUMN
                .matcher(read(ROOT.resolve("docs/troubleshooting.md")))
                .results()
                .flatMap(row -> CODE.matcher(row.group(1)).results())
                .map(MatchResult::group)
                .map(message -> message.substring(1, message.length() - 1))
                .toList();
        assertThat(messages).hasSizeGreaterThan(80);
        assertThat(messages.stream().flatMap(message -> Arrays.stream(message.split("…"))))
                .allSatisfy(part -> assertThat(sources).contains(part.strip()));
    }

    private static void open(String uri) {
        Holdfast.connect(uri).close();
    }

    private static List<String> options(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && method.getReturnType() == type)
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .map(Method::getName)
                .map(name -> "`" + name + "`")
                .distinct()
                .toList();
    }

    /** All main code, with its string literals joined. */
    private static String sources() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return String.join(
                    "\n",
                    files.filter(file -> file.toUri().getPath().matches(".*/src/main/java/.*\\.java"))
                            .map(DocumentedOptionsTest::read)
                            .map(text -> CONCATENATION.matcher(text).replaceAll(""))
                            .toList());
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
