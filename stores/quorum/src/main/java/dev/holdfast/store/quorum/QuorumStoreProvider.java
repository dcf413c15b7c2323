package dev.holdfast.store.quorum;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.UriReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Opens {@code quorum:(uri,uri,uri)}, with the parameters {@code longestLease} and {@code answerWithin}, both as ISO
 * durations such as {@code PT30S}; see {@link QuorumStore.Builder}. The members' own parameters are inside the
 * parentheses.
 */
public final class QuorumStoreProvider implements StoreProvider {

    private static final String LONGEST_LEASE = "longestLease";
    private static final String ANSWER_WITHIN = "answerWithin";

    /** For {@link java.util.ServiceLoader}. */
    public QuorumStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return description().schemeNames();
    }

    @Override
    public LockStore open(StoreUri uri) {
        uri.allowOnly(Set.of(LONGEST_LEASE, ANSWER_WITHIN));
        QuorumStore.Builder builder = QuorumStore.builder();
        members(uri).forEach(builder::member);
        UriReader reader = reader(uri);
        reader.given(LONGEST_LEASE, text -> builder.longestLease(reader.duration(LONGEST_LEASE, text)));
        reader.given(ANSWER_WITHIN, text -> builder.answerWithin(reader.duration(ANSWER_WITHIN, text)));
        return builder.open();
    }

    private static UriReader reader(StoreUri uri) {
        return new UriReader(uri, "a quorum", "(uri,uri,uri)");
    }

    /** The URIs in the parentheses, split at commas that are not in nested parentheses and that a scheme follows. */
    static List<String> members(StoreUri uri) {
        String rest = uri.rest();
        if (!rest.startsWith("(") || !rest.endsWith(")")) {
            throw reader(uri).malformed();
        }
        String inside = rest.substring(1, rest.length() - 1);
        List<String> members = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int i = 0; i < inside.length(); i++) {
            char c = inside.charAt(i);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (depth == 0 && c == ',' && beginsUri(inside, i + 1)) {
                members.add(inside.substring(from, i).strip());
                from = i + 1;
            }
        }
        if (depth != 0) {
            throw new IllegalArgumentException("The parentheses of a quorum are not closed: " + uri);
        }
        members.add(inside.substring(from).strip());
        return members;
    }

    /** Whether a scheme and a colon follow; after the commas in a list of hosts they don't. */
    private static boolean beginsUri(String text, int from) {
        int i = from;
        while (i < text.length() && text.charAt(i) == ' ') {
            i++;
        }
        int begin = i;
        while (i < text.length() && (Character.isLetterOrDigit(text.charAt(i)) || "+-".indexOf(text.charAt(i)) >= 0)) {
            i++;
        }
        boolean hasScheme =
                i > begin && Character.isLetter(text.charAt(begin)) && i < text.length() && text.charAt(i) == ':';
        return hasScheme && (i + 1 == text.length() || !Character.isDigit(text.charAt(i + 1)));
    }
}
