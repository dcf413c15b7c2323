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
 * The TLS properties of ZooKeeper's client. It supports TLS only on Netty's sockets, and ignores these properties on
 * others.
 */
public final class TlsSettings {

    private static final String NETTY_SOCKET = "org.apache.zookeeper.ClientCnxnSocketNetty";

    private static final String FILE_TYPE = "PEM";

    /** By default a client offers only one version, which older servers may not support. */
    private static final String PROTOCOLS = "TLSv1.3,TLSv1.2";

    private static final String ENABLED_PROTOCOLS = "zookeeper.ssl.enabledProtocols";

    /** The artifacts of Netty that TLS needs and that do not depend on each other, each by one of its classes. */
    private static final Map<String, String> ARTIFACTS = Map.of(
            "io.netty.handler.ssl.SslContext", "io.netty:netty-handler",
            "io.netty.channel.epoll.Epoll", "io.netty:netty-transport-classes-epoll");

    private TlsSettings() {}

    /** Enables TLS. */
    public static void require(ZKClientConfig config) {
        config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
    }

    /**
     * Trusts only the authorities whose certificates are in a PEM file.
     *
     * @throws IllegalArgumentException if there is no such file
     */
    public static void trust(ZKClientConfig config, Path authorities) {
        require(config);
        useFile(config, "zookeeper.ssl.trustStore.", authorities);
    }

    /**
     * Presents the client certificate in a PEM file, which also has its key.
     *
     * @throws IllegalArgumentException if there is no such file
     */
    public static void present(ZKClientConfig config, Path certificateAndKey) {
        require(config);
        useFile(config, "zookeeper.ssl.keyStore.", certificateAndKey);
    }

    private static void useFile(ZKClientConfig config, String store, Path file) {
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw new IllegalArgumentException("There is no readable PEM file at '" + file + "'");
        }
        config.setProperty(store + "location", file.toString());
        config.setProperty(store + "type", FILE_TYPE);
        // Passwords in system properties belong to other files.
        config.setProperty(store + "password", "");
        config.setProperty(store + "passwordPath", "");
    }

    /**
     * Completes the settings of a client that uses TLS and returns its context; empty if it does not use TLS.
     *
     * @throws IllegalArgumentException if a file has the wrong content
     * @throws IllegalStateException if a library is missing
     */
    static Optional<SSLContext> prepare(ZKClientConfig config) {
        if (!config.getBoolean(ZKClientConfig.SECURE_CLIENT)) {
            return Optional.empty();
        }
        ARTIFACTS.forEach(TlsSettings::requireClass);
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

    /** The TLS versions that a client with these settings offers; empty for the JVM's default. */
    static Optional<String[]> protocols(ZKClientConfig config) {
        return Optional.ofNullable(config.getProperty(ENABLED_PROTOCOLS)).map(all -> all.split(","));
    }

    private static void requireClass(String name, String artifact) {
        try {
            Class.forName(name, false, TlsSettings.class.getClassLoader());
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
