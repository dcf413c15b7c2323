package dev.holdfast.benchmarks.report;

import com.zaxxer.hikari.HikariDataSource;
import io.etcd.jetcd.Client;
import io.grpc.ManagedChannel;
import io.lettuce.core.RedisClient;
import io.netty.channel.Channel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.zookeeper.ZooKeeper;
import org.redisson.Redisson;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;

/** The machine and the libraries of a run. */
public final class Machine {

    /** The file name of a library, as repositories form it. */
    private static final Pattern JAR = Pattern.compile("([^/]+)-(\\d+\\.\\d+[^/]*)\\.jar$");

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

    /** The peers and the drivers, by the names of their artifacts, with their versions. */
    public static Map<String, String> libraries() {
        Map<String, String> versions = new TreeMap<>();
        for (Class<?> type : List.of(
                Redisson.class,
                RedisLockRegistry.class,
                LettuceConnectionFactory.class,
                RedisClient.class,
                Channel.class,
                JdbcTemplate.class,
                JdbcTemplateLockProvider.class,
                HikariDataSource.class,
                InterProcessMutex.class,
                ZooKeeper.class,
                Client.class,
                ManagedChannel.class)) {
            versions.put(jar(type, 1), version(type));
        }
        return versions;
    }

    /** The version of a library, from the name of its jar. */
    public static String version(Class<?> type) {
        return jar(type, 2);
    }

    private static String jar(Class<?> type, int group) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        if (source == null) {
            return "unknown";
        }
        return JAR.matcher(source.getLocation().getPath())
                .results()
                .map(name -> name.group(group))
                .findFirst()
                .orElse("unknown");
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
