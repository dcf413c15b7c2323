package dev.holdfast.servers;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Skips a test where no etcd can be had, with a warning; where the environment variable {@code HOLDFAST_NEEDS_ETCD} is
 * {@code true}, the test fails instead.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsEtcd.Condition.class)
public @interface NeedsEtcd {

    /** Finds the program. */
    final class Condition implements ExecutionCondition {

        private static final String VARIABLE = "HOLDFAST_NEEDS_ETCD";
        private static final String ADVICE = "There is no etcd here, and none could be fetched: name one by"
                + " HOLDFAST_ETCD_BIN, or install Debian's etcd-server";

        /** Called by JUnit. */
        public Condition() {}

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            if (EtcdBinary.find().isPresent()) {
                return ConditionEvaluationResult.enabled("there is an etcd");
            } else if ("true".equals(System.getenv(VARIABLE))) {
                throw new IllegalStateException(ADVICE + ". " + VARIABLE + " is set, so this is a failure.");
            }
            System.err.println("WARNING: " + context.getDisplayName() + " is skipped. " + ADVICE);
            return ConditionEvaluationResult.disabled(ADVICE);
        }
    }
}
