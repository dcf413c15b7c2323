/** Meters and observations of locks. */
// Micrometer is a module by its name only.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module dev.holdfast.micrometer {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires transitive micrometer.commons;
    requires transitive micrometer.core;
    requires transitive micrometer.observation;

    exports dev.holdfast.micrometer;
}
