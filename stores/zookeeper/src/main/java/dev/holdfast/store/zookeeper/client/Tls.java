package dev.holdfast.store.zookeeper.client;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception;

/**
 * The settings of ZooKeeper's client for TLS, which are properties. It speaks TLS on sockets of Netty alone, and
 * ignores these properties on the others.
 */
public final class Tls {

    private static final String NETTY_SOCKET = "org.apache.zookeeper.ClientCnxnSocketNetty";

    private static final String FILE_TYPE = "PEM";

    /** By default a client speaks one version alone: of its own day, which older servers don't know. */
    private static final String PROTOCOLS = "TLSv1.3,TLSv1.2";

    private static final String ENABLED_PROTOCOLS = "zookeeper.ssl.enabledProtocols";

    /** What the client needs of Netty for TLS: a class of each artifact that does not bring the other. */
    private static final Map<String, String> ARTIFACTS = Map.of(
            "io.netty.handler.ssl.SslContext", "io.netty:netty-handler",
            "io.netty.channel.epoll.Epoll", "io.netty:netty-transport-classes-epoll");

    private Tls() {}

    /** Switches TLS on. */
    public static void require(ZKClientConfig config) {
        config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
    }

    /**
     * Trusts the authorities whose certificates are in a file in PEM form, and no others.
     *
     * @throws IllegalArgumentException if there is no such file
     */
    public static void trust(ZKClientConfig config, Path authorities) {
        require(config);
        useFile(config, "zookeeper.ssl.trustStore.", authorities);
    }

    /**
     * Shows the certificate to the server that is in a file in PEM form with its key.
     *
     * @throws IllegalArgumentException if there is no such file
     */
    public static void show(ZKClientConfig config, Path certificateAndKey) {
        require(config);
        useFile(config, "zookeeper.ssl.keyStore.", certificateAndKey);
    }

    private static void useFile(ZKClientConfig config, String store, Path file) {
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw new IllegalArgumentException("There is no readable PEM file at '" + file + "'");
        }
        config.setProperty(store + "location", file.toString());
        config.setProperty(store + "type", FILE_TYPE);
        // Those of system properties are for other files.
        config.setProperty(store + "password", "");
        config.setProperty(store + "passwordPath", "");
    }

    /**
     * What secures the connections of a client with these settings, which is then set to use it; empty if they are
     * plain.
     *
     * @throws IllegalArgumentException if a file has not what it should have
     * @throws IllegalStateException if a library is missing
     */
    static Optional<SSLContext> prepare(ZKClientConfig config) {
        if (!config.getBoolean(ZKClientConfig.SECURE_CLIENT)) {
            return Optional.empty();
        }
        ARTIFACTS.forEach(Tls::requireClass);
        if (config.getProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET) == null) {
            config.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, NETTY_SOCKET);
        }
        if (config.getProperty(ENABLED_PROTOCOLS) == null && config.getProperty("zookeeper.ssl.protocol") == null) {
            config.setProperty(ENABLED_PROTOCOLS, PROTOCOLS);
        }
        try (ClientX509Util util = new ClientX509Util()) {
            return Optional.of(util.createSSLContext(config));
        } catch (X509Exception e) {
            throw new IllegalArgumentException(
                    "The TLS files are invalid: one must contain certificates of authorities, the "
                            + "other a certificate and its PKCS #8 key, in PEM format unless a property sets "
                            + "another: "
                            + deepest(e).getMessage(),
                    e);
        }
    }

    /** The versions of TLS that a client with these settings speaks; empty for those that the JVM does. */
    static Optional<String[]> protocols(ZKClientConfig config) {
        return Optional.ofNullable(config.getProperty(ENABLED_PROTOCOLS)).map(all -> all.split(","));
    }

    private static void requireClass(String name, String artifact) {
        try {
            Class.forName(name, false, Tls.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(
                    "TLS to ZooKeeper needs Netty, but its artifact " + artifact
                            + " is missing: add it to the class path, in the version of the other Netty " + "artifacts",
                    e);
        }
    }

    private static Throwable deepest(Throwable failure) {
        Throwable cause = failure.getCause();
        return cause == null ? failure : deepest(cause);
    }
}
