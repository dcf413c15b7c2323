package dev.holdfast.cli.browser;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Skips a test where there is no Chromium, with a warning; where the environment variable {@code
 * HOLDFAST_NEEDS_CHROMIUM} is {@code true}, the test fails instead.
 */
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsChromium.Condition.class)
@interface NeedsChromium {

    /** Finds the program. */
    final class Condition implements ExecutionCondition {

        private static final String VARIABLE = "HOLDFAST_NEEDS_CHROMIUM";
        private static final String ADVICE =
                "There is no Chromium here: name one by HOLDFAST_CHROMIUM, or install Debian's chromium-headless-shell";

        /** Called by JUnit. */
        public Condition() {}

        /** The program: that of {@code HOLDFAST_CHROMIUM}, or one on the path. */
        static Optional<Path> program() {
            String named = System.getenv("HOLDFAST_CHROMIUM");
            Stream<Path> candidates = named != null
                    ? Stream.of(Path.of(named))
                    : Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
                            .flatMap(folder -> Stream.of("chromium-headless-shell", "chromium", "google-chrome")
                                    .map(name -> Path.of(folder, name)));
            return candidates.filter(Files::isExecutable).findFirst();
        }

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            if (program().isPresent()) {
                return ConditionEvaluationResult.enabled("there is a Chromium");
            } else if ("true".equals(System.getenv(VARIABLE))) {
                throw new IllegalStateException(ADVICE + ". " + VARIABLE + " is set, so this is a failure.");
            }
            System.err.println("WARNING: " + context.getDisplayName() + " is skipped. " + ADVICE);
            return ConditionEvaluationResult.disabled(ADVICE);
        }
    }
}
