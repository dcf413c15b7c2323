/** The reference store, in memory. */
module dev.holdfast.store.memory {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;

// exports dev.holdfast.store.memory; (with its first type: an empty package cannot be exported)
}
