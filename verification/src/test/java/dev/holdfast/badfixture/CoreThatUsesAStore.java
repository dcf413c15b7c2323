package dev.holdfast.badfixture;

import dev.holdfast.Environment;
import dev.holdfast.store.memory.badfixture.StoreThatBreaksRules;
import java.time.Instant;
import org.assertj.core.api.Assertions;

/** Breaks the rules of the core, to show that they can fail. */
public final class CoreThatUsesAStore {

    /** Upwards, from the core to a store. */
    public final StoreThatBreaksRules[] upwards = {};

    /** Out of the core, to a library. */
    public void useALibrary() {
        Assertions.setRemoveAssertJRelatedElementsFromStackTrace(true);
    }

    /** The date, which no decision may rest on. */
    public Instant lookAtTheDate(Environment environment) {
        return Instant.ofEpochMilli(environment.wallMillis());
    }
}
