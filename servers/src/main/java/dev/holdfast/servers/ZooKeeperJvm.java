package dev.holdfast.servers;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The command that runs a ZooKeeper server in a separate JVM, from jars of this class path. */
final class ZooKeeperJvm {

    private static final String MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

    /** A class of each jar that the server needs. */
    private static final List<String> JARS = List.of(
            MAIN,
            "org.apache.jute.Record",
            "com.codahale.metrics.MetricRegistry",
            "org.xerial.snappy.Snappy",
            "org.apache.commons.io.FileUtils",
            "io.netty.buffer.ByteBuf",
            "io.netty.channel.Channel",
            "io.netty.channel.unix.Errors",
            "io.netty.handler.codec.ByteToMessageDecoder",
            "io.netty.handler.ssl.SslContext",
            "io.netty.resolver.NameResolver",
            "io.netty.util.AttributeKey");

    /** Needed only for TLS; tests of TLS have the jar on their class path. */
    private static final String TLS = "io.netty.channel.epoll.Epoll";

    /** For the short life of a test: little memory, and no compiler that uses much of the processor. */
    static final List<String> QUICK_TO_START = List.of("-Xmx96m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private ZooKeeperJvm() {}

    static List<String> command(
            List<String> jvmOptions, Map<String, String> properties, boolean speaksTls, Path configuration) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(jvmOptions);
        command.add("-Dslf4j.provider=" + ServerLog.class.getName());
        properties.forEach((name, value) -> command.add("-D" + name + "=" + value));
        command.addAll(List.of("-cp", classPath(speaksTls), MAIN, configuration.toString()));
        return command;
    }

    private static String classPath(boolean speaksTls) {
        Optional<Path> home = LocalBinaries.at("holdfast.zookeeper.home", "HOLDFAST_ZOOKEEPER_HOME");
        Stream<String> server = home.isPresent()
                ? Stream.of(home.get().resolve("*"), home.get().resolve("lib").resolve("*"))
                        .map(Path::toString)
                : Stream.concat(JARS.stream(), speaksTls ? Stream.of(TLS) : Stream.empty())
                        .map(ZooKeeperJvm::jarOf);
        return Stream.concat(
                        Stream.of(ServerLog.class.getName(), "org.slf4j.Logger").map(ZooKeeperJvm::jarOf), server)
                .distinct()
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static String jarOf(String name) {
        try {
            Class<?> type = Class.forName(name, false, ZooKeeperJvm.class.getClassLoader());
            return Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (ClassNotFoundException | URISyntaxException e) {
            throw new IllegalStateException("There is no ZooKeeper server on the class path: no " + name, e);
        }
    }
}
