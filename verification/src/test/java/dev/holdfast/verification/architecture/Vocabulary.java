package dev.holdfast.verification.architecture;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Words that the code does not use: identifiers that say nothing about their type, and idioms in comments that readers
 * stumble over. {@code docs/glossary.md} has the terms to use instead.
 */
final class Vocabulary {

    /** Identifiers, unless a dot or colon precedes them: then the type that declares them is responsible. */
    private static final Pattern IDENTIFIER = Pattern.compile(
            "(?<![\\w.:$])(goOn|held|lingering|look(?=s?(?![\\w$])|[A-Z])|mine|of(?!\\s*\\()|past|patience|together|told"
                    + "|watch)(?:(?<=look)\\w*)?(?![\\w$])");

    private static final Pattern IDIOM = Pattern.compile(
            "\\b(?:tells?|told|telling|looks?|looked|looking|goes on|go on|went on|going on|goes back|trips?|whoever"
                    + "|whatever|so many|so long|so often|anew|beside|nobody|asks? again|asked again|comes? up|came up"
                    + "|takes? in|taken in|gives? back|gave back|given back|giving back|be over|is over|are over"
                    + "|was over|be gone|is gone|are gone|was gone|the like|of its own|in vain|by itself|at the most"
                    + "|a word of|its kin|learns?|sees to it|stands? for|none of which|who has it|hear of|hears of"
                    + "|that is none)\\b",
            Pattern.CASE_INSENSITIVE);

    private static final Pattern WORD = Pattern.compile("\\w+");

    private Vocabulary() {}

    /** The rejected identifiers of a file, with their lines. */
    static List<String> rejectedIdentifiers(JavaSource source) {
        String code = source.code();
        return IDENTIFIER
                .matcher(code)
                .results()
                .map(found -> source.file() + ":" + line(code, found.start()) + " " + found.group())
                .toList();
    }

    private static long line(String code, int place) {
        return 1 + code.substring(0, place).chars().filter(c -> c == '\n').count();
    }

    static long words(List<JavaSource> sources) {
        return count(WORD, sources);
    }

    /** How many of 10,000 words in the comments of some files are idioms. */
    static double idioms(List<JavaSource> sources) {
        return count(IDIOM, sources) * 1e4 / Math.max(1, words(sources));
    }

    private static long count(Pattern pattern, List<JavaSource> sources) {
        return sources.stream()
                .mapToLong(
                        source -> pattern.matcher(source.comments()).results().count())
                .sum();
    }
}
