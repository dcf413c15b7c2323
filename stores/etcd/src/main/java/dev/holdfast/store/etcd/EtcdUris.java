package dev.holdfast.store.etcd;

import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.UriReader;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/** Parses the URIs of etcd stores. */
final class EtcdUris {

    private static final String SECURE = "etcds";

    private static final String FORM = "//[user:password@]host[:port][,host[:port]…][/namespace]";
    private static final Set<String> COMMON = Set.of("timeout", "connectTimeout", "passwordFile");
    private static final Set<String> TLS = Set.of("ca", "clientCertificate", "clientKey");

    private final StoreUri uri;
    private final UriReader reader;

    private EtcdUris(StoreUri uri) {
        this.uri = uri;
        this.reader = new UriReader(uri, "an etcd store", FORM);
    }

    /**
     * Sets up the store that a URI names.
     *
     * @throws IllegalArgumentException if it is not of the form, or has an unknown parameter or an invalid value
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
        UriReader.Authority authority = reader.authority();
        EtcdStore.Builder builder = EtcdStore.builder(authority.servers().toArray(new String[0]));
        String namespace = reader.path();
        if (!namespace.isEmpty()) {
            builder.namespace(namespace);
        }
        authenticate(builder, authority);
        reader.given("timeout", text -> builder.requestTimeout(reader.duration("timeout", text)));
        reader.given("connectTimeout", text -> builder.connectTimeout(reader.duration("connectTimeout", text)));
        if (isSecure) {
            builder.tls();
            reader.given("ca", text -> builder.trust(Path.of(text)));
            reader.given(
                    "clientCertificate",
                    "clientKey",
                    (certificate, key) -> builder.clientCertificate(Path.of(certificate), Path.of(key)));
        }
        return builder;
    }

    private void authenticate(EtcdStore.Builder builder, UriReader.Authority authority) {
        String user = authority.user();
        String password = authority.password();
        String file = reader.parameter("passwordFile");
        if (user == null || user.isEmpty()) {
            if (file != null || password != null) {
                throw reader.wrong("passwordFile", "and a password need a user name before the '@'");
            }
        } else if ((file == null) == (password == null)) {
            throw new IllegalArgumentException(
                    "An etcd user needs exactly one password: write it after the user name and a colon, or "
                            + "name a file in 'passwordFile': " + uri);
        } else if (file != null) {
            builder.user(user, new PasswordFile(Path.of(file)));
        } else {
            char[] secret = password.toCharArray();
            builder.user(user, secret::clone);
        }
    }
}
