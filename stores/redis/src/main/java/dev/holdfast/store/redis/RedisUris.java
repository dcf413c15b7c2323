package dev.holdfast.store.redis;

import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.UriReader;
import dev.holdfast.store.redis.connection.Passwords;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.StaticCredentialsProvider;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Parses the URIs of all Redis stores. */
final class RedisUris {

    private static final Logger LOG = LoggerFactory.getLogger(RedisUris.class);

    private static final String SECURE = "rediss";
    private static final String SENTINEL = "redis-sentinel";
    private static final String SECURE_SENTINEL = "rediss-sentinel";
    private static final String CLUSTER = "redis-cluster";
    private static final String SECURE_CLUSTER = "rediss-cluster";

    private static final int PORT = 6379;
    private static final int SENTINEL_PORT = 26_379;
    private static final int MOST_DATABASES = 99_999;

    private static final String SERVER_FORM = "//[[user]:password@]host[:port][/database]";
    private static final String SENTINEL_FORM = "//[[user]:password@]host[:port][,host[:port]…][/database]?master=NAME";
    private static final String CLUSTER_FORM = "//[[user]:password@]host[:port][,host[:port]…]";

    private static final Set<String> COMMON =
            Set.of("namespace", "timeout", "connectTimeout", "passwordFile", "waitForReplicas", "replicaTimeout");
    private static final Set<String> TLS = Set.of("ca", "clientCertificate", "clientKey", "verify");
    private static final Set<String> SENTINELS =
            Set.of("master", "sentinelUser", "sentinelPassword", "sentinelPasswordFile");

    private final StoreUri uri;
    private final UriReader reader;

    private RedisUris(StoreUri uri) {
        this.uri = uri;
        this.reader = new UriReader(
                uri, "a Redis store", isSentinel() ? SENTINEL_FORM : isCluster() ? CLUSTER_FORM : SERVER_FORM);
    }

    /**
     * Configures the store of a URI.
     *
     * @throws IllegalArgumentException if it has another form, an unknown parameter or an invalid value
     */
    static RedisStore.Builder builder(StoreUri uri) {
        return new RedisUris(uri).builder();
    }

    private boolean isSecure() {
        return uri.scheme().startsWith(SECURE);
    }

    private boolean isCluster() {
        return uri.scheme().equals(CLUSTER) || uri.scheme().equals(SECURE_CLUSTER);
    }

    private boolean isSentinel() {
        return uri.scheme().equals(SENTINEL) || uri.scheme().equals(SECURE_SENTINEL);
    }

    private RedisStore.Builder builder() {
        Set<String> known = new HashSet<>(COMMON);
        if (isSecure()) {
            known.addAll(TLS);
        }
        if (isSentinel()) {
            known.addAll(SENTINELS);
        }
        uri.allowOnly(known);
        RedisStore.Builder builder = isCluster()
                ? RedisStore.clusterBuilder(nodes())
                : RedisStore.builder(isSentinel() ? sentinels() : server());
        reader.given("namespace", builder::namespace);
        reader.given("timeout", text -> builder.commandTimeout(reader.duration("timeout", text)));
        reader.given("connectTimeout", text -> builder.connectTimeout(reader.duration("connectTimeout", text)));
        replicas(builder);
        if (isSecure()) {
            builder.tls(tls());
            if (verification() != SslVerifyMode.FULL) {
                LOG.warn(
                        "store={} {}: an attacker in the network can read and change everything, "
                                + "including the password",
                        uri,
                        verification() == SslVerifyMode.CA
                                ? "does not check that the certificate matches the host"
                                : "does not check the server's certificate");
            }
        }
        return builder;
    }

    private void replicas(RedisStore.Builder builder) {
        String replicas = reader.parameter("waitForReplicas");
        String timeout = reader.parameter("replicaTimeout");
        if (replicas != null) {
            int number = UriReader.number(replicas, Integer.MIN_VALUE, Integer.MAX_VALUE)
                    .orElseThrow(() -> reader.wrong("waitForReplicas", "must be a number"));
            builder.waitForReplicas(
                    number, timeout == null ? RedisStore.REPLICA_TIMEOUT : reader.duration("replicaTimeout", timeout));
        } else if (timeout != null) {
            throw reader.wrong("replicaTimeout", "needs 'waitForReplicas' as well");
        }
    }

    private RedisURI server() {
        UriReader.Authority authority = reader.authority();
        if (authority.servers().size() > 1) {
            throw new IllegalArgumentException("The scheme '" + uri.scheme() + "' takes one server; use '" + SENTINEL
                    + "' for several Sentinels, and '" + CLUSTER + "' for the nodes of a cluster: " + uri);
        }
        return servers(authority, PORT).get(0);
    }

    private List<RedisURI> nodes() {
        UriReader.Authority authority = reader.authority();
        if (database() != 0) {
            throw new IllegalArgumentException("A Redis Cluster has only database 0; the form is " + uri.scheme() + ":"
                    + CLUSTER_FORM + ", not " + uri);
        }
        return servers(authority, PORT);
    }

    private RedisURI sentinels() {
        UriReader.Authority authority = reader.authority();
        String master = reader.parameter("master");
        if (master == null || master.isBlank()) {
            throw reader.wrong("master", "must be the name of the primary at the Sentinels");
        }
        RedisURI all = new RedisURI();
        all.setSentinelMasterId(master);
        for (String text : authority.servers()) {
            RedisURI sentinel = server(text, SENTINEL_PORT);
            secure(sentinel);
            authenticate(
                    sentinel,
                    reader.parameter("sentinelUser"),
                    reader.parameter("sentinelPassword"),
                    "sentinelPassword",
                    "sentinelPasswordFile");
            all.getSentinels().add(sentinel);
        }
        set(all, authority);
        return all;
    }

    /** The servers in the URI, with all its settings. */
    private List<RedisURI> servers(UriReader.Authority authority, int port) {
        return authority.servers().stream()
                .map(text -> {
                    RedisURI server = server(text, port);
                    set(server, authority);
                    return server;
                })
                .toList();
    }

    private RedisURI server(String text, int port) {
        UriReader.Server server = reader.server(text, port);
        return RedisURI.create(server.host(), server.port());
    }

    private int database() {
        String path = reader.path();
        return path.isEmpty() ? 0 : UriReader.number(path, 0, MOST_DATABASES).orElseThrow(reader::malformed);
    }

    private void set(RedisURI server, UriReader.Authority authority) {
        server.setDatabase(database());
        secure(server);
        String user = authority.user();
        boolean isDefault = user == null || user.isEmpty();
        authenticate(
                server, isDefault ? null : user, authority.password(), "the password before the '@'", "passwordFile");
    }

    private void secure(RedisURI server) {
        server.setSsl(isSecure());
        if (isSecure()) {
            server.setVerifyPeer(verification());
        }
    }

    private void authenticate(
            RedisURI server, @Nullable String user, @Nullable String password, String word, String fileParameter) {
        String file = reader.parameter(fileParameter);
        if (file != null && password != null) {
            throw reader.wrong(fileParameter, "and " + word + " are two passwords; set one");
        } else if (file != null) {
            server.setCredentialsProvider(Passwords.from(user, Passwords.ofFile(Path.of(file))));
        } else if (password != null) {
            server.setCredentialsProvider(new StaticCredentialsProvider(user, password.toCharArray()));
        } else if (user != null) {
            throw new IllegalArgumentException(
                    "A Redis user needs a password: write it after the user name and a colon, or set '" + fileParameter
                            + "': " + uri);
        }
    }

    private SslVerifyMode verification() {
        String verify = uri.parameters().getOrDefault("verify", "full");
        return switch (verify.toLowerCase(Locale.ROOT)) {
            case "full" -> SslVerifyMode.FULL;
            case "ca" -> SslVerifyMode.CA;
            case "none" -> SslVerifyMode.NONE;
            default -> throw reader.wrong("verify", "must be 'full', 'ca' (the host name is not checked) or 'none'");
        };
    }

    private SslOptions tls() {
        SslOptions.Builder tls = SslOptions.builder().jdkSslProvider();
        reader.given("ca", authorities -> tls.trustManager(file("ca", authorities)));
        reader.given(
                "clientCertificate",
                "clientKey",
                (certificate, key) ->
                        tls.keyManager(file("clientCertificate", certificate), file("clientKey", key), null));
        return tls.build();
    }

    private File file(String name, String text) {
        Path file = Path.of(text);
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw reader.wrong(name, "must be a readable PEM file, but there is none at " + file);
        }
        return file.toFile();
    }
}
