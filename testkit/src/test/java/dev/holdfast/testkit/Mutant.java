package dev.holdfast.testkit;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A way to break the reference store: some of its source text is replaced by other text.
 *
 * @param name what is wrong with it
 * @param broken the guarantee that it breaks first, and those that can't be kept without it; the kit must name these
 *     and no others
 * @param edits what is replaced
 * @param seenInRuns whether random runs are expected to find it too
 * @param parts in how many parts the store keeps sessions
 */
record Mutant(String name, Set<String> broken, List<Edit> edits, boolean seenInRuns, int parts) {

    /**
     * One replacement.
     *
     * @param file the class whose source is changed
     * @param original occurs there once
     * @param replacement takes its place
     */
    record Edit(String file, String original, String replacement) {}

    static Mutant of(String name, String guarantee) {
        return new Mutant(name, Set.of(guarantee), List.of(), true, 1);
    }

    /** What also can't be kept then. */
    Mutant andSo(String... guarantees) {
        Set<String> all = new LinkedHashSet<>(broken);
        all.addAll(List.of(guarantees));
        return new Mutant(name, all, edits, seenInRuns, parts);
    }

    Mutant inExecutor(String original, String replacement) {
        return in("ReferenceExecutor", original, replacement);
    }

    Mutant inStore(String original, String replacement) {
        return in("ReferenceStore", original, replacement);
    }

    Mutant inState(String original, String replacement) {
        return in("State", original, replacement);
    }

    Mutant inClaim(String original, String replacement) {
        return in("MemoryClaim", original, replacement);
    }

    Mutant inResource(String original, String replacement) {
        return in("MemoryResource", original, replacement);
    }

    Mutant inLatch(String original, String replacement) {
        return in("MemoryLatch", original, replacement);
    }

    Mutant inReports(String original, String replacement) {
        return in("ReferenceReports", original, replacement);
    }

    private Mutant in(String file, String original, String replacement) {
        List<Edit> more = new ArrayList<>(edits);
        more.add(new Edit(file, original, replacement));
        return new Mutant(name, broken, more, seenInRuns, parts);
    }

    /** Random runs don't come that way. */
    Mutant notInRuns() {
        return new Mutant(name, broken, edits, false, parts);
    }

    /** A store that keeps sessions in parts. */
    Mutant inParts() {
        return new Mutant(name, broken, edits, seenInRuns, 5);
    }

    /** The source of a class as this mutant has it. */
    String applyTo(String file, String source) {
        String changed = source;
        for (Edit edit : edits) {
            if (edit.file().equals(file)) {
                int at = changed.indexOf(edit.original());
                if (at < 0 || changed.indexOf(edit.original(), at + 1) >= 0) {
                    throw new IllegalStateException(
                            "Not once in " + file + ", so that '" + name + "' can't be made: " + edit.original());
                }
                changed = changed.replace(edit.original(), edit.replacement());
            }
        }
        return changed;
    }
}
