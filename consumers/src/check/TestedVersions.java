import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Fails the build if the users of an artifact get other libraries than those its own tests have run with: a version
 * that our build manages, or that a library for tests brings, is not one that users resolve.
 */
final class TestedVersions {

    private static final String OURS = "holdfast-";

    /** The versions of what it brings are those that its users' version of Spring Boot manages. */
    private static final String MANAGED = "holdfast-spring-boot-starter";

    /** Users bring their own version of it. */
    private static final String CHOSEN = "junit-";

    private TestedVersions() {}

    /**
     * Compares class paths.
     *
     * @param args the directory of the projects that have resolved artifacts as users do, each with the file
     *     {@code target/resolved}; the directory of our modules, which have a file {@code target/tested-ARTIFACT} each
     */
    public static void main(String[] args) throws IOException {
        Map<String, Path> tested = new TreeMap<>();
        for (Path file : find(Path.of(args[1]), "tested-")) {
            tested.put(file.getFileName().toString().substring("tested-".length()), file);
        }
        List<String> differences = new ArrayList<>();
        int compared = 0;
        for (Path file : find(Path.of(args[0]), "resolved")) {
            Map<String, String> resolved = libraries(file);
            // A project names the artifact it is about first.
            String artifact = resolved.keySet().stream()
                    .filter(name -> name.startsWith(OURS))
                    .findFirst()
                    .orElse("");
            if (artifact.isEmpty() || artifact.equals(MANAGED)) {
                continue; // empty: only in the scope of tests
            }
            if (!tested.containsKey(artifact)) {
                differences.add(artifact + ": it is not known what its tests run with");
                continue;
            }
            Map<String, String> ours = libraries(tested.get(artifact));
            resolved.forEach((name, version) -> {
                String ourVersion = ours.getOrDefault(name, version);
                if (!name.startsWith(OURS) && !name.startsWith(CHOSEN) && !version.equals(ourVersion)) {
                    differences.add(artifact + ": users get " + name + " " + version + ", but its tests run with "
                            + ourVersion);
                }
            });
            compared++;
        }
        if (compared == 0 || !differences.isEmpty()) {
            System.err.println(compared + " projects were compared");
            differences.forEach(System.err::println);
            System.exit(1);
        }
    }

    private static List<Path> find(Path root, String prefix) throws IOException {
        try (Stream<Path> files = Files.find(
                root,
                4,
                (path, attributes) -> path.getParent().endsWith("target")
                        && path.getFileName().toString().startsWith(prefix))) {
            return files.sorted().toList();
        }
    }

    /** The versions on a class path by artifact, in its order, without those of our modules in this build. */
    private static Map<String, String> libraries(Path classPath) throws IOException {
        Map<String, String> versions = new LinkedHashMap<>();
        Arrays.stream(Files.readString(classPath).strip().split(File.pathSeparator))
                .map(Path::of)
                .filter(entry ->
                        entry.toString().endsWith(".jar") && !entry.getParent().endsWith("target"))
                .forEach(jar -> {
                    Path version = jar.getParent();
                    versions.put(
                            String.valueOf(version.getParent().getFileName()), String.valueOf(version.getFileName()));
                });
        return versions;
    }
}
