package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Opens the store that a URI names, with credentials that are set apart from it. */
final class StoreUriStores {

    private final HoldfastProperties properties;
    private final List<StoreUriOpener> openers;

    StoreUriStores(HoldfastProperties properties, List<StoreUriOpener> openers) {
        this.properties = properties;
        this.openers = openers;
    }

    LockStore open(String text, @Nullable String user, @Nullable String password) {
        StoreUri uri;
        try {
            uri = withCredentials(StoreUri.parse(text), user, password);
        } catch (IllegalArgumentException e) {
            throw new HoldfastConfigurationException(
                    String.valueOf(e.getMessage()), "Correct the property 'holdfast.store'.", e);
        }
        StoreModules.missing(Objects.requireNonNull(ClassUtils.getDefaultClassLoader()))
                .filter(store -> store.schemeNames().contains(uri.scheme()))
                .findFirst()
                .ifPresent(store -> {
                    throw new HoldfastConfigurationException(
                            "The property 'holdfast.store' is '" + uri
                                    + "', but the module of that store is not on the class path.",
                            "Add " + store.artifact() + " to the class path.");
                });
        Optional<StoreUriOpener> opener = openers.stream()
                .filter(each -> each.schemes().contains(uri.scheme()))
                .findFirst();
        if (opener.isEmpty() && properties.ssl().bundle() != null) {
            throw new HoldfastConfigurationException(
                    "The property 'holdfast.ssl.bundle' is set, but the store '" + uri
                            + "' doesn't support SSL bundles.",
                    "Remove 'holdfast.ssl.bundle'; a database takes its TLS settings from the URI or from a"
                            + " DataSource.");
        }
        if (opener.isEmpty() && properties.startsWithoutStore() && !isLocal(uri)) {
            throw new HoldfastConfigurationException(
                    "The property 'holdfast.startup-policy' is 'retry', but the store '" + uri
                            + "' can't be opened after the application has started.",
                    "Set 'holdfast.startup-policy' to 'fail'; only databases and Redis can be opened later.");
        }
        return StoreOpening.of(
                "'" + uri + "'",
                () -> opener.isPresent()
                        ? opener.get().open(uri)
                        : StoreProvider.of(uri).open(uri));
    }

    /** Whether there is no server that could be away. */
    private static boolean isLocal(StoreUri uri) {
        return uri.scheme().equals("memory") || uri.scheme().equals("sqlite");
    }

    private static StoreUri withCredentials(StoreUri uri, @Nullable String user, @Nullable String password) {
        if (user == null && password == null) {
            return uri;
        }
        String rest = uri.rest();
        if (!rest.startsWith("//")) {
            throw new IllegalArgumentException(
                    "The properties 'holdfast.username' and 'holdfast.password' are set, but the " + "store '" + uri
                            + "' has no login");
        } else if (rest.indexOf('@') >= 0) {
            throw new IllegalArgumentException("Credentials are set both in the URI '" + uri
                    + "' and in 'holdfast.username' and 'holdfast.password'");
        }
        String credentials = encoded(user) + (password == null ? "" : ":" + encoded(password));
        return new StoreUri(uri.scheme(), "//" + credentials + "@" + rest.substring(2), uri.parameters());
    }

    private static String encoded(@Nullable String text) {
        return text == null
                ? ""
                : URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
