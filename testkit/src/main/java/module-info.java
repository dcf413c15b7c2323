/** The conformance suite for stores, the simulation and the history checker. */
module dev.holdfast.testkit {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires transitive dev.holdfast.store.memory;
    requires transitive org.assertj.core;
    requires transitive org.junit.jupiter.api;

    exports dev.holdfast.testkit;
    exports dev.holdfast.testkit.sim;

    // The tests of the kit are not public: a store's author extends them, and only the engine of JUnit calls them.
    opens dev.holdfast.testkit to
            org.junit.platform.commons;
}
