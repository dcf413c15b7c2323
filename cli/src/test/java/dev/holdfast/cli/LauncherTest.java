package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.cli.CliProcess.Place;
import dev.holdfast.cli.store.SeparateStores;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ./holdfast} in a small checkout, whose Maven is a script and whose command prints its arguments. */
class LauncherTest {

    /** The programs that the launcher and this Maven use, apart from flock. */
    private static final String COMMANDS =
            "cat cp date find grep head ln ls mkdir mv readlink rm rmdir sed sh sleep sort tail tr";

    private static final String BUILDS = """
            echo "$@" >> calls
            echo '[INFO] Scanning for projects...'
            echo '[INFO] Building Example core 0.1.0-SNAPSHOT                 [1/2]'
            echo '[INFO] Building Example command 0.1.0-SNAPSHOT              [2/2]'
            mkdir -p .holdfast-cli/work/holdfast-cli
            cp made.jar .holdfast-cli/work/holdfast-cli/holdfast.jar
            """;

    /** What the modules of separate stores make. */
    private static final String BUILDS_STORES = """
            for store in etcd zookeeper; do
                mkdir -p .holdfast-cli/work/holdfast-cli-$store
                printf '%s/made.jar:%s/core/pom.xml' "$PWD" "$PWD" > .holdfast-cli/work/holdfast-cli-$store/files
            done
            """;

    private static final Pattern ARTIFACT = Pattern.compile("</parent>\\s*<artifactId>([\\w-]+)</artifactId>");

    /** On another module of the project, not only for tests. */
    private static final Pattern DEPENDENCY = Pattern.compile(
            "<dependency>\\s*<groupId>dev.holdfast</groupId>"
                    + "\\s*<artifactId>([\\w-]+)</artifactId>(?!((?!</dependency>).)*<scope>test)",
            Pattern.DOTALL);

    @TempDir
    Path directory;

    private final Map<String, String> environment = new HashMap<>();
    private Path checkout;
    private Place place;

    @BeforeEach
    void checkOut() throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/bin/sh")), "there is no shell here");
        checkout = Files.createDirectory(directory.resolve("checkout"));
        Files.copy(Path.of("..", "holdfast"), checkout.resolve("holdfast"));
        for (String module : List.of(
                "core",
                "rows",
                "stores/one",
                "stores/two",
                "stores/register",
                "stores/etcd",
                "stores/zookeeper",
                "cli")) {
            write(module + "/pom.xml", "");
            write(module + "/src/main/java/Source.java", "");
        }
        write("pom.xml", "");
        for (String store : SeparateStores.directories().values()) {
            write("cli/stores/" + store + "/pom.xml", "");
        }
        write("cli/src/cds/train.sh", ": > \"$3\"\n");
        jar(checkout.resolve("made.jar"));
        maven(BUILDS + BUILDS_STORES);
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        place = new Place(directory, environment);
    }

    @Test
    void buildsTheFirstTimeOnly() throws IOException {
        try (CliProcess first = launch("one", "word or two")) {
            assertThat(first.exitCode()).isZero();
            assertThat(first.out()).isEqualTo("[one, word or two]\n");
            assertThat(first.err()).isEqualTo("Building holdfast (first use only) ...\n");
        }
        try (CliProcess second = launch()) {
            assertThat(second.exitCode()).isZero();
            assertThat(second.out()).isEqualTo("[]\n");
            assertThat(second.err()).isEmpty();
        }
        assertThat(calls())
                .containsExactly("-B -Pcommand-only -pl core,rows,console,cli,stores/one,stores/two package");
    }

    /** A module that a POM names and the launcher does not would fail everybody's first command. */
    @Test
    void buildsWhatTheCommandNeeds() throws IOException {
        Path project = Path.of("..");
        try (Stream<Path> poms = Files.find(project.resolve("stores"), 2, (path, facts) -> path.endsWith("pom.xml"))) {
            for (Path pom : poms.toList()) {
                write(project.relativize(pom).toString(), "");
            }
        }
        for (String store : List.of("one", "two")) {
            Files.delete(checkout.resolve("stores").resolve(store).resolve("pom.xml"));
        }
        launched();
        List<String> built =
                List.of(calls().get(0).replaceFirst(".* -pl (\\S+) .*", "$1").split(","));
        List<String> artifacts = new ArrayList<>();
        List<String> needed = new ArrayList<>();
        for (String module : built) {
            String pom = Files.readString(project.resolve(module).resolve("pom.xml"));
            Stream.of(ARTIFACT, DEPENDENCY)
                    .forEach(pattern -> pattern.matcher(pom)
                            .results()
                            .forEach(found -> (pattern == ARTIFACT ? artifacts : needed).add(found.group(1))));
        }
        assertThat(artifacts).hasSameSizeAs(built).contains("holdfast-cli").containsAll(needed);
        assertThat(needed).contains("holdfast-core", "holdfast-sqlite");
    }

    @Test
    void buildsAgainOnATerminalAfterAChange() throws IOException {
        launched();
        change("stores/two");
        try (CliProcess again = launchOnTerminal("x")) {
            assertThat(again.exitCode()).isZero();
            assertThat(again.out())
                    .startsWith("Building holdfast (sources have changed) ...")
                    .contains("[x]");
        }
        assertThat(calls()).hasSize(2);
    }

    @Test
    void changeNeverMakesAJobBuildOrFail() throws IOException {
        launched();
        change("stores/two");
        maven("exit 1");
        try (CliProcess job = launch("x")) {
            assertThat(job.exitCode()).isZero();
            assertThat(job.out()).isEqualTo("[x]\n");
            assertThat(job.err()).startsWith("holdfast: sources have changed since ");
        }
        assertThat(calls()).hasSize(1);
    }

    @Test
    void checkoutOfAnotherUserIsBuiltInTheCache() throws Exception {
        environment.put("XDG_CACHE_HOME", directory.resolve("cache").toString());
        maven("""
                case $3 in
                -Dcommand.directory=*) work=${3#*=} ;;
                *) exit 1 ;;
                esac
                mkdir -p "$work/holdfast-cli"
                cp made.jar "$work/holdfast-cli/holdfast.jar"
                """);
        giveAway(checkout);
        for (String expected : List.of("Building holdfast (first use only) ...\n", "")) {
            try (CliProcess process = launch("x")) {
                assertThat(process.exitCode()).as(process.err()).isZero();
                assertThat(process.out()).isEqualTo("[x]\n");
                assertThat(process.err()).isEqualTo(expected);
            }
        }
        assertThat(checkout.resolve(".holdfast-cli")).doesNotExist();
    }

    @Test
    void cacheThatCannotBeWrittenIsNamed() throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "");
        environment.put("XDG_CACHE_HOME", file.toString());
        giveAway(checkout);
        try (CliProcess process = launch("x")) {
            assertThat(process.exitCode()).isEqualTo(70);
            assertThat(process.err()).startsWith("holdfast: can't write to '" + file + "/");
        }
    }

    @Test
    void buildOfTheOwnerServesOthers() throws Exception {
        launched();
        environment.put("XDG_CACHE_HOME", "/nowhere");
        giveAway(checkout);
        launched();
        assertThat(calls()).hasSize(1);
    }

    @Test
    void movedCheckoutWorks() throws IOException {
        launched();
        Path archive = archive();
        Files.writeString(archive, "made elsewhere");
        checkout = Files.move(checkout, directory.resolve("moved"));
        launched();
        assertThat(calls()).hasSize(1);
        assertThat(archive()).as("made again").content().isEmpty();
        Files.writeString(archive(), "kept");
        launched();
        assertThat(archive()).content().isEqualTo("kept");
    }

    @Test
    void runtimeWithoutACompilerIsNamed() throws IOException {
        Path runtime = Files.createDirectories(directory.resolve("jre"));
        Files.copy(Path.of(System.getProperty("java.home"), "release"), runtime.resolve("release"));
        Files.createDirectory(runtime.resolve("bin"));
        Files.createSymbolicLink(runtime.resolve("bin/java"), Path.of(System.getProperty("java.home"), "bin", "java"));
        environment.put("JAVA_HOME", runtime.toString());
        environment.put("PATH", pathWithoutFlock());
        try (CliProcess process = launch("x")) {
            assertThat(process.exitCode()).isEqualTo(70);
            assertThat(process.err())
                    .startsWith("holdfast: '" + runtime + "/bin/java' is a Java runtime without a compiler")
                    .contains("JAVA_HOME");
        }
        assertThat(checkout.resolve("calls")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "run x --store %s://h:1 -- true",
                "ls --store=%s://h:1",
                "run --store quorum:(redis://h,%s://h) x -- true",
            })
    void separateStoresAreBuiltWhenTheyAreNamedFirst(String arguments) throws IOException {
        launched();
        for (Map.Entry<String, String> store : new TreeMap<>(SeparateStores.directories()).entrySet()) {
            String built = arguments.formatted(store.getKey());
            boolean isFirst = !store.getKey().equals(store.getValue() + "s");
            try (CliProcess process = launch(built.split(" "))) {
                assertThat(process.exitCode()).as(process.err()).isZero();
                assertThat(process.err())
                        .isEqualTo(
                                isFirst ? "Building the store on " + store.getValue() + " (first use only) ...\n" : "");
            }
            assertThat(present().resolve("stores").resolve(store.getValue()))
                    .isDirectoryContaining("glob:**/made.jar")
                    .isDirectoryContaining("glob:**/pom.xml");
        }
        assertThat(calls())
                .hasSize(3)
                .contains("-B -Pcommand-only -pl core,stores/register,stores/etcd,cli/stores/etcd package");
    }

    @Test
    void separateStoreMayBeNamedByTheEnvironment() throws IOException {
        environment.put("HOLDFAST_STORE", "ETCD://h:1");
        launched();
        assertThat(calls()).hasSize(2);
        try (CliProcess other = launch("run", "--store", "sqlite:", "etcd://h", "--", "--store", "zookeeper://h")) {
            assertThat(other.exitCode()).isZero();
        }
        assertThat(calls()).as("neither a lock nor a command is a store").hasSize(2);
    }

    @Test
    void changeBuildsTheNamedStoreAgain() throws IOException {
        environment.put("HOLDFAST_STORE", "etcd://h:1");
        launched();
        change("stores/etcd");
        try (CliProcess again = launchOnTerminal()) {
            assertThat(again.exitCode()).isZero();
        }
        assertThat(calls()).hasSize(4);
    }

    @Test
    void storeThatCannotBeBuiltIsNotHalfThere() throws IOException {
        launched();
        maven("echo '[ERROR] no such artifact'\nexit 1\n");
        environment.put("HOLDFAST_STORE", "etcd://h:1");
        try (CliProcess failing = launch("ls")) {
            assertThat(failing.exitCode()).isEqualTo(70);
            assertThat(failing.out()).isEmpty();
            assertThat(failing.err())
                    .startsWith("Building the store on etcd (first use only) ...\n[ERROR] no such artifact\n")
                    .contains("could not be built");
        }
        assertThat(present().resolve("stores")).doesNotExist();
        environment.remove("HOLDFAST_STORE");
        try (CliProcess other = launch("ls")) {
            assertThat(other.exitCode()).as("what is on other stores works on").isZero();
        }
    }

    private Path present() throws IOException {
        Path builds = checkout.resolve(".holdfast-cli");
        return builds.resolve(Files.readString(builds.resolve("current")).strip());
    }

    @Test
    void failedBuildSaysWhy() throws IOException {
        maven("echo '[INFO] Building Example core 1 [1/2]'\necho '[ERROR] no such artifact'\n"
                + "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo \"[INFO] $i\"; done\nexit 1\n");
        try (CliProcess failing = launch()) {
            assertThat(failing.exitCode()).isEqualTo(70);
            assertThat(failing.out()).isEmpty();
            assertThat(failing.err())
                    .isEqualTo("Building holdfast (first use only) ...\n[ERROR] no such artifact\n"
                            + "holdfast: could not be built; the whole log is "
                            + checkout.toRealPath().resolve(".holdfast-cli/build.log") + "\n");
        }
        maven(BUILDS + BUILDS_STORES);
        launched();
    }

    @Test
    void buildThatDoesNotGetAsFarAsMavenSaysWhy() throws IOException {
        maven("printf 'no network' >&2\nexit 6\n");
        try (CliProcess failing = launch()) {
            assertThat(failing.exitCode()).isEqualTo(70);
            assertThat(failing.err()).contains("\nno network\nholdfast: could not be built");
        }
    }

    @ParameterizedTest(name = "with flock: {0}")
    @ValueSource(booleans = {true, false})
    void twoFirstUsesBuildOnce(boolean withFlock) throws IOException {
        if (!withFlock) {
            environment.put("PATH", pathWithoutFlock());
        }
        maven(BUILDS + "until [ -e go ]; do sleep 0.05; done\n");
        try (CliProcess one = launch("one");
                CliProcess two = launch("two")) {
            CliProcess.untilWritten(checkout.resolve("calls"));
            write("go", "");
            assertThat(one.exitCode()).isZero();
            assertThat(two.exitCode()).isZero();
            assertThat(one.out() + two.out()).isEqualTo("[one]\n[two]\n");
        }
        assertThat(calls()).hasSize(1);
        if (!withFlock) {
            assertThat(checkout.resolve(".holdfast-cli/lock")).doesNotExist();
        }
    }

    @Test
    void tellsWhoWatchesHowFarItIs() {
        try (CliProcess terminal = launchOnTerminal("x")) {
            assertThat(terminal.exitCode()).isZero();
            assertThat(terminal.out().lines().filter(line -> !line.startsWith("Preparing quick starts with Java ")))
                    .containsExactly(
                            "Building holdfast (first use only) ...",
                            "  1 of 2: Example core",
                            "  2 of 2: Example command",
                            "[x]");
        }
    }

    private void launched() {
        try (CliProcess process = launch()) {
            assertThat(process.exitCode()).as(process.err()).isZero();
        }
    }

    private CliProcess launch(String... arguments) {
        List<String> command =
                new ArrayList<>(List.of("/bin/sh", checkout.resolve("holdfast").toString()));
        command.addAll(List.of(arguments));
        return place.startProgram(
                ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()), command);
    }

    private CliProcess launchOnTerminal(String... arguments) {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "there is no script(1) here");
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "there is no /proc here");
        String command = "/bin/sh '" + checkout.resolve("holdfast") + "' " + String.join(" ", arguments);
        return place.startProgram(
                ProcessBuilder.Redirect.PIPE, List.of("/usr/bin/script", "-qec", command, "/dev/null"));
    }

    /** Makes a source newer than each build. */
    private void change(String module) throws IOException {
        Path source = checkout.resolve(module + "/src/main/java/Source.java");
        Files.setLastModifiedTime(source, FileTime.fromMillis(System.currentTimeMillis() + 60_000));
    }

    /** Makes this user one who can't or should not write: root may write everywhere, but isn't the owner then. */
    private static void giveAway(Path checkout) throws IOException, InterruptedException {
        for (List<String> command : List.of(List.of("chmod", "a-w"), List.of("chown", "12345"))) {
            List<String> words = new ArrayList<>(command);
            words.add(checkout.toString());
            new ProcessBuilder(words)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
        }
        assumeTrue(
                !Files.isWritable(checkout) || !Files.getOwner(checkout).equals(Files.getOwner(checkout.getParent())),
                "can't give a directory away here");
    }

    private Path archive() throws IOException {
        try (Stream<Path> files = Files.list(present())) {
            return files.filter(file -> file.toString().endsWith(".jsa"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private List<String> calls() throws IOException {
        return Files.readAllLines(checkout.resolve("calls"));
    }

    private void maven(String script) throws IOException {
        write("mvnw", "#!/bin/sh\n" + script);
        assertThat(checkout.resolve("mvnw").toFile().setExecutable(true)).isTrue();
    }

    private void write(String file, String text) throws IOException {
        Path path = checkout.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    /** A directory of commands for PATH. */
    private String pathWithoutFlock() throws IOException {
        Path commands = Files.createDirectory(directory.resolve("commands"));
        for (String name : COMMANDS.split(" ")) {
            Path real = Stream.of("/bin", "/usr/bin")
                    .map(place -> Path.of(place, name))
                    .filter(Files::isExecutable)
                    .findFirst()
                    .orElseThrow();
            Path command = Files.writeString(commands.resolve(name), "#!/bin/sh\nexec " + real + " \"$@\"\n");
            assertThat(command.toFile().setExecutable(true)).isTrue();
        }
        return commands.toString();
    }

    private static void jar(Path file) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, PrintedArguments.class.getName());
        String entry = PrintedArguments.class.getName().replace('.', '/') + ".class";
        try (OutputStream out = Files.newOutputStream(file);
                JarOutputStream jar = new JarOutputStream(out, manifest)) {
            jar.putNextEntry(new JarEntry(entry));
            jar.write(PrintedArguments.class.getResourceAsStream("/" + entry).readAllBytes());
        }
    }

    /** The command of the checkout. */
    static final class PrintedArguments {

        private PrintedArguments() {}

        public static void main(String... arguments) {
            System.out.println(List.of(arguments));
        }
    }
}
