package dev.holdfast.store.redis;

import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.redis.connection.Passwords;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.StaticCredentialsProvider;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the URIs of all Redis stores, and nothing else does. What is wrong with one is said with the name of the
 * parameter, and never with a password.
 */
final class RedisUris {

    private static final Logger LOG = LoggerFactory.getLogger(RedisUris.class);

    static final String PLAIN = "redis";
    static final String SECURE = "rediss";
    static final String SENTINEL = "redis-sentinel";
    static final String SECURE_SENTINEL = "rediss-sentinel";
    static final String CLUSTER = "redis-cluster";
    static final String SECURE_CLUSTER = "rediss-cluster";

    private static final int PORT = 6379;
    private static final int SENTINEL_PORT = 26_379;

    private static final String SERVER_FORM = "[[user]:password@]host[:port][/database]";
    private static final String SENTINEL_FORM = "[[user]:password@]host[:port][,host[:port]…][/database]?master=NAME";

    private static final String CLUSTER_FORM = "[[user]:password@]host[:port][,host[:port]…]";

    private static final Set<String> COMMON =
            Set.of("namespace", "timeout", "connectTimeout", "passwordFile", "waitForReplicas", "replicaTimeout");
    private static final Set<String> TLS = Set.of("ca", "clientCertificate", "clientKey", "verify");
    private static final Set<String> SENTINELS =
            Set.of("master", "sentinelUser", "sentinelPassword", "sentinelPasswordFile");

    private final StoreUri uri;
    private final Map<String, String> parameters;

    private RedisUris(StoreUri uri) {
        this.uri = uri;
        this.parameters = uri.parameters();
    }

    /**
     * Sets up the store that a URI names.
     *
     * @throws IllegalArgumentException if it is not of the form, or has a parameter that is not known, or a value that
     *     is none
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
        given("namespace", builder::namespace);
        given("timeout", text -> builder.commandTimeout(duration("timeout", text)));
        given("connectTimeout", text -> builder.connectTimeout(duration("connectTimeout", text)));
        String replicas = parameters.get("waitForReplicas");
        String replicaTimeout = parameters.get("replicaTimeout");
        if (replicas != null) {
            builder.waitForReplicas(
                    number("waitForReplicas", replicas),
                    replicaTimeout == null ? RedisStore.REPLICA_TIMEOUT : duration("replicaTimeout", replicaTimeout));
        } else if (replicaTimeout != null) {
            throw wrong(
                    "replicaTimeout",
                    "says how long to wait for the replicas of 'waitForReplicas', which is not there");
        }
        if (isSecure()) {
            builder.tls(tls());
            if (verification() != SslVerifyMode.FULL) {
                LOG.warn(
                        "store={} {}: whoever can get in between may read and change everything, the password too",
                        uri,
                        verification() == SslVerifyMode.CA
                                ? "does not check that the certificate is that of the host"
                                : "does not check the certificate of the server");
            }
        }
        return builder;
    }

    private RedisURI server() {
        Authority authority = Authority.read(uri, PORT, uri.scheme() + "://" + SERVER_FORM);
        if (authority.servers().size() > 1) {
            throw new IllegalArgumentException("A Redis store at '" + uri.scheme()
                    + "' has one server; several are named by '" + SENTINEL + "' for Sentinels, and by '" + CLUSTER
                    + "' for the nodes of a cluster: " + uri);
        }
        Authority.Place place = authority.servers().get(0);
        RedisURI server = RedisURI.create(place.host(), place.port());
        set(server, authority);
        return server;
    }

    private List<RedisURI> nodes() {
        String form = uri.scheme() + "://" + CLUSTER_FORM;
        Authority authority = Authority.read(uri, PORT, form);
        if (authority.database() != 0) {
            throw new IllegalArgumentException(
                    "A Redis Cluster has no databases but the first; the form is " + form + ", unlike " + uri);
        }
        List<RedisURI> nodes = new ArrayList<>();
        for (Authority.Place place : authority.servers()) {
            RedisURI node = RedisURI.create(place.host(), place.port());
            set(node, authority);
            nodes.add(node);
        }
        return nodes;
    }

    private RedisURI sentinels() {
        Authority authority = Authority.read(uri, SENTINEL_PORT, uri.scheme() + "://" + SENTINEL_FORM);
        String master = parameters.get("master");
        if (master == null || master.isBlank()) {
            throw wrong("master", "must say what the Sentinels call the primary");
        }
        RedisURI all = new RedisURI();
        all.setSentinelMasterId(master);
        for (Authority.Place place : authority.servers()) {
            RedisURI sentinel = RedisURI.create(place.host(), place.port());
            secure(sentinel);
            authenticate(
                    sentinel,
                    parameters.get("sentinelUser"),
                    parameters.get("sentinelPassword"),
                    "sentinelPassword",
                    "sentinelPasswordFile");
            all.getSentinels().add(sentinel);
        }
        set(all, authority);
        return all;
    }

    private void set(RedisURI server, Authority authority) {
        server.setDatabase(authority.database());
        secure(server);
        authenticate(server, authority.user(), authority.password(), "the password before the '@'", "passwordFile");
    }

    private void secure(RedisURI server) {
        server.setSsl(isSecure());
        if (isSecure()) {
            server.setVerifyPeer(verification());
        }
    }

    private void authenticate(
            RedisURI server, @Nullable String user, @Nullable String password, String word, String fileParameter) {
        String file = parameters.get(fileParameter);
        if (file != null && password != null) {
            throw wrong(fileParameter, "and " + word + " are one too many");
        } else if (file != null) {
            server.setCredentialsProvider(Passwords.from(user, Passwords.ofFile(Path.of(file))));
        } else if (password != null) {
            server.setCredentialsProvider(new StaticCredentialsProvider(user, password.toCharArray()));
        } else if (user != null) {
            throw new IllegalArgumentException("A user of a Redis store needs a password: behind its name, with a colon"
                    + " between them, or by '" + fileParameter + "': " + uri);
        }
    }

    private SslVerifyMode verification() {
        String verify = parameters.getOrDefault("verify", "full");
        return switch (verify.toLowerCase(Locale.ROOT)) {
            case "full" -> SslVerifyMode.FULL;
            case "ca" -> SslVerifyMode.CA;
            case "none" -> SslVerifyMode.NONE;
            default -> throw wrong("verify", "is 'full', 'ca' (without the name of the host) or 'none'");
        };
    }

    private SslOptions tls() {
        SslOptions.Builder tls = SslOptions.builder().jdkSslProvider();
        String authorities = parameters.get("ca");
        if (authorities != null) {
            tls.trustManager(file("ca", authorities));
        }
        String certificate = parameters.get("clientCertificate");
        String key = parameters.get("clientKey");
        if (certificate != null && key != null) {
            tls.keyManager(file("clientCertificate", certificate), file("clientKey", key), null);
        } else if (certificate != null || key != null) {
            throw wrong(certificate == null ? "clientKey" : "clientCertificate", "needs the other one of the two");
        }
        return tls.build();
    }

    private File file(String name, String text) {
        Path file = Path.of(text);
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw wrong(name, "is a file in PEM form, and there is none to be read at " + file);
        }
        return file.toFile();
    }

    private void given(String name, Consumer<String> then) {
        String value = parameters.get(name);
        if (value != null) {
            then.accept(value);
        }
    }

    private Duration duration(String name, String text) {
        try {
            return Duration.parse(text);
        } catch (DateTimeParseException e) {
            throw wrong(name, "has the form PT5S");
        }
    }

    private int number(String name, String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw wrong(name, "is a number");
        }
    }

    private IllegalArgumentException wrong(String name, String how) {
        return new IllegalArgumentException("The parameter '" + name + "' of a Redis store " + how + ": " + uri);
    }
}
