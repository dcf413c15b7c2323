package dev.holdfast.store.zookeeper;

import dev.holdfast.spi.StoreUri;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Reads the URIs of stores on ZooKeeper. What is wrong with one is said without its password. */
final class ZooKeeperUris {

    static final String PLAIN = "zookeeper";
    static final String SECURE = "zookeepers";

    private static final String FORM = "://[user:password@]host[:port][,host[:port]…][/chroot]";

    /** What one server looks like: a name or an address, in brackets if it has colons, and a port. */
    private static final String SERVER = "(\\[[0-9A-Fa-f:.]+]|[^\\[\\]:@/,\\s]+)(:\\d{1,5})?";

    private static final Set<String> COMMON =
            Set.of("root", "sessionTimeout", "connectTimeout", "requestTimeout", "acl");

    private static final Set<String> TLS = Set.of("ca", "clientCertificate");

    private final StoreUri uri;
    private final Map<String, String> parameters;

    private ZooKeeperUris(StoreUri uri) {
        this.uri = uri;
        this.parameters = uri.parameters();
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
        ZooKeeperStore.Builder builder = authority();
        given("root", path -> checked("root", path, builder::root));
        duration("sessionTimeout", builder::sessionTimeout);
        duration("connectTimeout", builder::connectTimeout);
        duration("requestTimeout", builder::requestTimeout);
        given("acl", text -> builder.access(access(text)));
        if (isSecure) {
            builder.tls();
            given("ca", file -> checked("ca", Path.of(file), builder::trust));
            given("clientCertificate", file -> checked("clientCertificate", Path.of(file), builder::clientCertificate));
        }
        return builder;
    }

    private ZooKeeperStore.Builder authority() {
        String rest = uri.rest();
        if (!rest.startsWith("//")) {
            throw malformed();
        }
        int at = rest.lastIndexOf('@');
        int from = at < 0 ? 2 : at + 1;
        int slash = rest.indexOf('/', from);
        String servers = rest.substring(from, slash < 0 ? rest.length() : slash);
        if (!servers.matches(SERVER + "(," + SERVER + ")*")) {
            throw malformed();
        }
        String chroot = slash < 0 ? "" : rest.substring(slash);
        ZooKeeperStore.Builder builder;
        try {
            builder = ZooKeeperStore.builder(servers + chroot);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("The chroot of " + uri + " is no path: " + e.getMessage(), e);
        }
        if (at >= 0) {
            String credentials = rest.substring(2, at);
            int colon = credentials.indexOf(':');
            if (colon < 1) {
                throw malformed();
            }
            builder.digest(decoded(credentials.substring(0, colon)), decoded(credentials.substring(colon + 1)));
        }
        return builder;
    }

    private String decoded(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // Without its cause, whose text repeats a part of the password.
            throw new IllegalArgumentException("User and password of a ZooKeeper store are percent-encoded: " + uri);
        }
    }

    private void given(String name, Consumer<String> use) {
        String value = parameters.get(name);
        if (value != null) {
            use.accept(value);
        }
    }

    private <T> void checked(String name, T value, Consumer<T> use) {
        try {
            use.accept(value);
        } catch (IllegalArgumentException e) {
            throw wrong(name, String.valueOf(e.getMessage()));
        }
    }

    private void duration(String name, Consumer<Duration> use) {
        given(name, text -> checked(name, duration(name, text), use));
    }

    private Duration duration(String name, String text) {
        try {
            return Duration.parse(text);
        } catch (DateTimeParseException e) {
            throw wrong(name, "has the form PT5S");
        }
    }

    private ZooKeeperStore.Access access(String text) {
        return switch (text) {
            case "open" -> ZooKeeperStore.Access.OPEN;
            case "creator" -> ZooKeeperStore.Access.CREATOR;
            default -> throw wrong("acl", "is 'open' or 'creator', unlike '" + text + "'");
        };
    }

    private IllegalArgumentException wrong(String name, String why) {
        return new IllegalArgumentException("The parameter '" + name + "' of " + uri + ": " + why);
    }

    private IllegalArgumentException malformed() {
        return new IllegalArgumentException(
                "A ZooKeeper store has the form " + uri.scheme() + FORM + ", unlike " + uri);
    }
}
