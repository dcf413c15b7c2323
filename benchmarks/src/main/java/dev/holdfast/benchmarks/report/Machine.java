package dev.holdfast.benchmarks.report;

import com.zaxxer.hikari.HikariDataSource;
import io.etcd.jetcd.Client;
import io.grpc.ManagedChannel;
import io.lettuce.core.RedisClient;
import io.netty.channel.Channel;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.zookeeper.ZooKeeper;
import org.redisson.Redisson;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;

/** What the measurements ran on. */
public final class Machine {

    /** The file of a library, as repositories name it. */
    private static final Pattern JAR = Pattern.compile("-(\\d+\\.\\d+[^/]*)\\.jar$");

    private Machine() {}

    public static String processors() {
        int count = Runtime.getRuntime().availableProcessors();
        return count + " × " + firstOf(Path.of("/proc/cpuinfo"), "model name", "unknown processor");
    }

    public static String system() {
        return System.getProperty("os.name") + " " + System.getProperty("os.version") + ", "
                + System.getProperty("os.arch");
    }

    /** The JDK at a place, as its own release file states it. */
    public static String jdk(Path javaHome) {
        Path release = javaHome.resolve("release");
        return firstOf(release, "IMPLEMENTOR", "?") + " " + firstOf(release, "JAVA_RUNTIME_VERSION", "?");
    }

    public static String fileSystem(Path directory) throws IOException {
        var store = Files.getFileStore(directory);
        return store.type() + " on " + store.name();
    }

    public static String sqlite() {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:");
                Statement statement = connection.createStatement();
                ResultSet version = statement.executeQuery("SELECT sqlite_version()")) {
            return version.getString(1);
        } catch (SQLException e) {
            return "unknown";
        }
    }

    /** What is measured beside Holdfast, and what both use, by name, with its version. */
    public static Map<String, String> libraries() {
        Map<String, String> libraries = new LinkedHashMap<>();
        libraries.put("Redisson", version(Redisson.class));
        libraries.put("Spring Integration", version(RedisLockRegistry.class));
        libraries.put("Spring Data Redis", version(LettuceConnectionFactory.class));
        libraries.put("Lettuce", version(RedisClient.class));
        libraries.put("Netty", version(Channel.class));
        libraries.put("Spring JDBC", version(JdbcTemplate.class));
        libraries.put("ShedLock", version(JdbcTemplateLockProvider.class));
        libraries.put("HikariCP", version(HikariDataSource.class));
        libraries.put("Curator", version(InterProcessMutex.class));
        libraries.put("ZooKeeper's client", version(ZooKeeper.class));
        libraries.put("jetcd", version(Client.class));
        libraries.put("grpc-java", version(ManagedChannel.class));
        return libraries;
    }

    /**
     * As the manifest of its jar states it, or the only project of which the jar keeps the properties, or else the name
     * of the jar.
     */
    public static String version(Class<?> ofLibrary) {
        String version = ofLibrary.getPackage().getImplementationVersion();
        if (version != null) {
            return version;
        }
        Optional<Path> jar = jarOf(ofLibrary);
        return jar.flatMap(Machine::ofProject)
                .or(() -> jar.flatMap(Machine::ofName))
                .orElse("unknown");
    }

    private static Optional<Path> jarOf(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        try {
            return source == null
                    ? Optional.empty()
                    : Optional.of(Path.of(source.getLocation().toURI()));
        } catch (URISyntaxException e) {
            return Optional.empty();
        }
    }

    private static Optional<String> ofName(Path jar) {
        return JAR.matcher(jar.getFileName().toString())
                .results()
                .map(name -> name.group(1))
                .findFirst();
    }

    private static Optional<String> ofProject(Path file) {
        try (JarFile jar = new JarFile(file.toFile())) {
            List<JarEntry> projects = jar.stream()
                    .filter(entry -> entry.getName().matches("META-INF/maven/[^/]+/[^/]+/pom\\.properties"))
                    .toList();
            if (projects.size() != 1) {
                return Optional.empty();
            }
            Properties properties = new Properties();
            try (InputStream content = jar.getInputStream(projects.get(0))) {
                properties.load(content);
            }
            return Optional.ofNullable(properties.getProperty("version"));
        } catch (IOException e) {
            // Not from a jar.
            return Optional.empty();
        }
    }

    /** The first value of a name in a file of lines such as {@code name = "value"}. */
    private static String firstOf(Path file, String name, String otherwise) {
        try {
            for (String line : Files.readAllLines(file)) {
                String[] parts = line.split("[:=]", 2);
                if (parts.length == 2 && parts[0].strip().equals(name)) {
                    return parts[1].strip().replace("\"", "");
                }
            }
        } catch (IOException e) {
            return otherwise;
        }
        return otherwise;
    }
}
