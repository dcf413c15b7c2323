/** A lock registry and a leader initiator of Spring Integration on Holdfast. */
// Spring is modules by their names only.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module dev.holdfast.spring.integration {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires transitive spring.beans;
    requires transitive spring.context;
    requires transitive spring.integration.core;
    requires spring.core;
    requires spring.tx;
    // Spring uses it and, as automatic modules, can't require it.
    requires org.apache.commons.logging;
    requires org.slf4j;

    exports dev.holdfast.spring.integration;
}
