package dev.holdfast.store.zookeeper;

import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.UriReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/** Reads the URIs of stores on ZooKeeper, and nothing else does. */
final class ZooKeeperUris {

    private static final String SECURE = "zookeepers";

    private static final String FORM = "//[user:password@]host[:port][,host[:port]…][/chroot]";

    /** The form of one server: a name or an address, in brackets if it has colons, and a port. */
    private static final String SERVER = "(\\[[0-9A-Fa-f:.]+]|[^\\[\\]:@/,\\s]+)(:\\d{1,5})?";

    private static final Set<String> COMMON =
            Set.of("root", "sessionTimeout", "tickTime", "connectTimeout", "requestTimeout", "acl");

    private static final Set<String> TLS = Set.of("ca", "clientCertificate");

    private final StoreUri uri;
    private final UriReader reader;

    private ZooKeeperUris(StoreUri uri) {
        this.uri = uri;
        this.reader = new UriReader(uri, "a ZooKeeper store", FORM);
    }

    /**
     * Sets up the store that a URI names.
     *
     * @throws IllegalArgumentException if it is not of the form, or has a parameter that is not known, or a value that
     *     is none
     */
    static ZooKeeperStore.Builder builder(StoreUri uri) {
        return new ZooKeeperUris(uri).builder();
    }

    private ZooKeeperStore.Builder builder() {
        boolean isSecure = uri.scheme().equals(SECURE);
        Set<String> known = new HashSet<>(COMMON);
        if (isSecure) {
            known.addAll(TLS);
        }
        uri.allowOnly(known);
        ZooKeeperStore.Builder builder = servers();
        reader.given("root", path -> checked("root", path, builder::root));
        duration("sessionTimeout", builder::sessionTimeout);
        duration("tickTime", builder::tickTime);
        duration("connectTimeout", builder::connectTimeout);
        duration("requestTimeout", builder::requestTimeout);
        reader.given("acl", text -> builder.access(access(text)));
        if (isSecure) {
            builder.tls();
            reader.given("ca", file -> checked("ca", Path.of(file), builder::trust));
            reader.given(
                    "clientCertificate",
                    file -> checked("clientCertificate", Path.of(file), builder::clientCertificate));
        }
        return builder;
    }

    private ZooKeeperStore.Builder servers() {
        UriReader.Authority authority = reader.authority();
        if (!authority.servers().stream().allMatch(server -> server.matches(SERVER))) {
            throw reader.malformed();
        }
        String chroot = reader.path().isEmpty() ? "" : "/" + reader.path();
        ZooKeeperStore.Builder builder;
        try {
            builder = ZooKeeperStore.builder(String.join(",", authority.servers()) + chroot);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("The chroot of " + uri + " is not a valid path: " + e.getMessage(), e);
        }
        String user = authority.user();
        String password = authority.password();
        if (user == null) {
            return builder;
        } else if (user.isEmpty() || password == null) {
            throw reader.malformed();
        }
        return builder.digest(user, password);
    }

    private <T> void checked(String name, T value, Consumer<T> use) {
        try {
            use.accept(value);
        } catch (IllegalArgumentException e) {
            throw reader.wrong(name, "is invalid: " + e.getMessage());
        }
    }

    private void duration(String name, Consumer<Duration> use) {
        reader.given(name, text -> checked(name, reader.duration(name, text), use));
    }

    private ZooKeeperStore.Access access(String text) {
        return switch (text) {
            case "open" -> ZooKeeperStore.Access.OPEN;
            case "creator" -> ZooKeeperStore.Access.CREATOR;
            default -> throw reader.wrong("acl", "must be 'open' or 'creator'");
        };
    }
}
