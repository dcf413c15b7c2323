package dev.holdfast.cli.browser;

import dev.holdfast.servers.Chromium;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Skips a test where there is no {@link Chromium}, with a warning; where the environment variable {@code
 * HOLDFAST_NEEDS_CHROMIUM} is {@code true}, the test fails instead.
 */
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsChromium.Condition.class)
@interface NeedsChromium {

    /** Finds the program. */
    final class Condition implements ExecutionCondition {

        private static final String ADVICE =
                "There is no Chromium here: name one by HOLDFAST_CHROMIUM, install Debian's"
                        + " chromium-headless-shell, or fetch it by '.ci/debian-servers chromium bookworm'";

        /** Called by JUnit. */
        public Condition() {}

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            if (Chromium.find().isPresent()) {
                return ConditionEvaluationResult.enabled("there is a Chromium");
            } else if (Chromium.isNeeded()) {
                throw new IllegalStateException(ADVICE + ". " + Chromium.NEEDED + " is set, so this is a failure.");
            }
            System.err.println("WARNING: " + context.getDisplayName() + " is skipped. " + ADVICE);
            return ConditionEvaluationResult.disabled(ADVICE);
        }
    }
}
