package dev.holdfast.cli.store;

import dev.holdfast.cli.console.Spelling;
import dev.holdfast.spi.KnownStores;
import dev.holdfast.spi.KnownStores.KnownStore;
import dev.holdfast.spi.StoreDescription.Scheme;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Suggests the URI that a user meant by a text that names no store. */
final class UriHints {

    private UriHints() {}

    /** The schemes of all stores of this release, the usual ones first. */
    static Set<String> schemes() {
        // A loop, since each start of the command comes here: the first lambda of a JVM takes long.
        Set<String> names = new LinkedHashSet<>();
        for (KnownStore store : KnownStores.ALL) {
            names.addAll(store.description().schemeNames());
        }
        return names;
    }

    private static Stream<Scheme> all() {
        return KnownStores.ALL.stream().flatMap(store -> store.description().schemes().stream());
    }

    /** The message with a suggestion, if there is one for the text. */
    static String after(String message, String text) {
        return message + find(text).map(hint -> ". " + hint).orElse("");
    }

    private static Optional<String> find(String text) {
        // Compiled here, since only mistakes need it: the first regular expression of a JVM takes long.
        Matcher server = Pattern.compile("(https?://)?(?<host>[\\w.-]+):(?<port>[0-9]{1,5})(?<rest>/.*)?")
                .matcher(text);
        int colon = text.indexOf(':');
        if (server.matches()) {
            String rest = server.group("rest") == null ? "" : server.group("rest");
            int port = Integer.parseInt(server.group("port"));
            return all().filter(scheme -> scheme.port().equals(OptionalInt.of(port)))
                    .findFirst()
                    .map(scheme -> meant(scheme.name() + "://" + server.group("host") + ":" + port + rest));
        } else if (text.startsWith("jdbc:")) {
            return Optional.of("Leave out 'jdbc:'.");
        } else if (colon < 0 && !schemes().contains(text) && isFile(text)) {
            return Optional.of(meant("sqlite:" + text));
        }
        String scheme = colon < 0 ? text : text.substring(0, colon);
        return all().filter(each -> each.otherNames().contains(scheme))
                .findFirst()
                .map(Scheme::name)
                .or(() -> Spelling.nearest(scheme, schemes()))
                .map(each -> meant(each + ":"));
    }

    private static boolean isFile(String text) {
        return (text.indexOf('/') >= 0 && text.indexOf('@') < 0) || text.endsWith(".db") || text.endsWith(".sqlite");
    }

    private static String meant(String uri) {
        return "Did you mean '" + uri + "'?";
    }
}
