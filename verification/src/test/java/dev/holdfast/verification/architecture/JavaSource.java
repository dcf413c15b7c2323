package dev.holdfast.verification.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A Java file, divided into code and comments. Text in quotes is part of neither.
 *
 * @param module the path of its module
 * @param isMain whether it is main code
 * @param code with line breaks for comments, so that line numbers are those of the file
 */
record JavaSource(String file, String module, boolean isMain, String code, String comments) {

    private static final Path ROOT = Path.of("..");
    private static final Pattern FILE = Pattern.compile("(.*)/src/(main|test)/java/.*\\.java");
    private static final Pattern NO_CODE =
            Pattern.compile("(\"\"\"[\\s\\S]*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*+\"|'(?:\\\\.|[^'\\\\\n])*+')"
                    + "|/\\*[\\s\\S]*?\\*/|//[^\n]*");

    /** All files of all modules, but not what a build has written. */
    static List<JavaSource> all() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.map(file -> ROOT.relativize(file).toString().replace('\\', '/'))
                    .filter(file -> !file.contains("/target/"))
                    .flatMap(file -> FILE.matcher(file).results())
                    .map(found ->
                            of(found.group(), found.group(1), found.group(2).equals("main"), read(found.group())))
                    .toList();
        }
    }

    private static String read(String file) {
        try {
            return Files.readString(ROOT.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static JavaSource of(String file, String module, boolean isMain, String text) {
        StringBuilder code = new StringBuilder();
        StringBuilder comments = new StringBuilder();
        int end = 0;
        for (Matcher found = NO_CODE.matcher(text); found.find(); end = found.end()) {
            code.append(text, end, found.start());
            if (found.group(1) == null) {
                comments.append(found.group()).append('\n');
            }
            code.append("\n"
                    .repeat((int) found.group().chars().filter(c -> c == '\n').count()));
        }
        code.append(text, end, text.length());
        return new JavaSource(file, module, isMain, code.toString(), comments.toString());
    }
}
