/** The conformance suite for stores, the simulation and the history checker. */
module dev.holdfast.testkit {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires transitive dev.holdfast.store.memory;
    requires transitive org.assertj.core;
    requires transitive org.junit.jupiter.api;

// exports dev.holdfast.testkit; (with its first type: an empty package cannot be exported)
}
