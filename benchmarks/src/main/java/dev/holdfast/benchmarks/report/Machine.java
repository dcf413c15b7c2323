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
import java.util.LinkedHashMap;
import java.util.Map;
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

    /** The peers and the drivers, by name, with their versions. */
    public static Map<String, String> libraries() {
        Map<String, Class<?>> types = new LinkedHashMap<>();
        types.put("Redisson", Redisson.class);
        types.put("Spring Integration", RedisLockRegistry.class);
        types.put("Spring Data Redis", LettuceConnectionFactory.class);
        types.put("Lettuce", RedisClient.class);
        types.put("Netty", Channel.class);
        types.put("Spring JDBC", JdbcTemplate.class);
        types.put("ShedLock", JdbcTemplateLockProvider.class);
        types.put("HikariCP", HikariDataSource.class);
        types.put("Curator", InterProcessMutex.class);
        types.put("ZooKeeper's client", ZooKeeper.class);
        types.put("jetcd", Client.class);
        types.put("grpc-java", ManagedChannel.class);
        Map<String, String> versions = new LinkedHashMap<>();
        types.forEach((name, type) -> versions.put(name, version(type)));
        return versions;
    }

    /** The version of a library, from the name of its jar. */
    public static String version(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        if (source == null) {
            return "unknown";
        }
        return JAR.matcher(source.getLocation().getPath())
                .results()
                .map(name -> name.group(1))
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
