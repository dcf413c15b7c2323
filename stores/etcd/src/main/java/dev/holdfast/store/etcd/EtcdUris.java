package dev.holdfast.store.etcd;

import dev.holdfast.spi.StoreUri;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads the URIs of etcd stores, and nothing else does. What is wrong with one is said with the name of the part, and
 * never with a password.
 */
final class EtcdUris {

    static final String PLAIN = "etcd";
    static final String SECURE = "etcds";

    private static final String FORM = "://[user:password@]host[:port][,host[:port]…][/namespace]";
    private static final Set<String> COMMON = Set.of("timeout", "connectTimeout", "passwordFile");
    private static final Set<String> TLS = Set.of("ca", "clientCertificate", "clientKey");

    private final StoreUri uri;
    private final Map<String, String> parameters;

    private EtcdUris(StoreUri uri) {
        this.uri = uri;
        this.parameters = uri.parameters();
    }

    /**
     * Sets up the store that a URI names.
     *
     * @throws IllegalArgumentException if it is not of the form, or has a parameter that is not known, or a value that
     *     is none
     */
    static EtcdStore.Builder builder(StoreUri uri) {
        return new EtcdUris(uri).builder();
    }

    private EtcdStore.Builder builder() {
        Set<String> known = new HashSet<>(COMMON);
        boolean isSecure = uri.scheme().equals(SECURE);
        if (isSecure) {
            known.addAll(TLS);
        }
        uri.allowOnly(known);
        String rest = uri.rest();
        if (!rest.startsWith("//")) {
            throw malformed();
        }
        int at = rest.lastIndexOf('@');
        int slash = rest.indexOf('/', Math.max(2, at));
        int end = slash < 0 ? rest.length() : slash;
        EtcdStore.Builder builder = EtcdStore.builder(endpoints(rest.substring(at < 0 ? 2 : at + 1, end)));
        if (end + 1 < rest.length()) {
            builder.namespace(rest.substring(end + 1));
        }
        authenticate(builder, at < 0 ? "" : rest.substring(2, at));
        given("timeout", text -> builder.requestTimeout(duration("timeout", text)));
        given("connectTimeout", text -> builder.connectTimeout(duration("connectTimeout", text)));
        if (isSecure) {
            secure(builder);
        }
        return builder;
    }

    private String[] endpoints(String places) {
        if (places.isEmpty()) {
            throw malformed();
        }
        return List.of(places.split(",", -1)).toArray(new String[0]);
    }

    private void authenticate(EtcdStore.Builder builder, String credentials) {
        int colon = credentials.indexOf(':');
        String user = decoded(colon < 0 ? credentials : credentials.substring(0, colon));
        String file = parameters.get("passwordFile");
        if (user.isEmpty()) {
            if (file != null || !credentials.isEmpty()) {
                throw wrong("passwordFile", "and a password belong to a user, whose name stands before the '@'");
            }
        } else if ((file == null) == (colon < 0)) {
            throw new IllegalArgumentException("A user of etcd has one password: behind its name, with a colon between"
                    + " them, or in a file that 'passwordFile' names: " + uri);
        } else if (file != null) {
            builder.user(user, new PasswordFile(Path.of(file)));
        } else {
            char[] password = decoded(credentials.substring(colon + 1)).toCharArray();
            builder.user(user, password::clone);
        }
    }

    private void secure(EtcdStore.Builder builder) {
        builder.tls();
        given("ca", text -> builder.trust(Path.of(text)));
        String certificate = parameters.get("clientCertificate");
        String key = parameters.get("clientKey");
        if (certificate != null && key != null) {
            builder.clientCertificate(Path.of(certificate), Path.of(key));
        } else if (certificate != null || key != null) {
            throw wrong(certificate == null ? "clientKey" : "clientCertificate", "needs the other one of the two");
        }
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

    private String decoded(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // Without its cause, whose text repeats a part of the password.
            throw new IllegalArgumentException("User and password of etcd are percent-encoded: " + uri);
        }
    }

    private IllegalArgumentException wrong(String name, String how) {
        return new IllegalArgumentException("The parameter '" + name + "' of an etcd store " + how + ": " + uri);
    }

    private IllegalArgumentException malformed() {
        return new IllegalArgumentException("An etcd store has the form " + uri.scheme() + FORM + ", unlike " + uri);
    }
}
