package dev.holdfast.cli.console;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the word that a misspelt one was meant to be. */
public final class Spelling {

    private Spelling() {}

    /** The known word with the fewest edits, if they are few for its length. */
    public static Optional<String> nearest(String word, Collection<String> known) {
        return known.stream()
                .filter(each -> edits(word, each) <= (Math.min(word.length(), each.length()) + 1) / 3)
                .min(Comparator.comparingInt((String each) -> edits(word, each)).thenComparing(each -> each));
    }

    /** The Levenshtein distance: insertions, deletions and replacements of a character. */
    private static int edits(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[to.length()];
    }
}
