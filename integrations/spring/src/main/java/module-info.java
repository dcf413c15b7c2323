/** Locks around methods of Spring beans, scheduled tasks that one process runs, and elections as events. */
// Spring and Reactor are modules by their names only.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module dev.holdfast.spring {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires transitive spring.context;
    requires transitive spring.core;
    requires spring.aop;
    requires spring.beans;
    requires spring.expression;
    requires static spring.tx;
    requires static reactor.core;
    requires static org.reactivestreams;
    requires org.slf4j;
    // Spring uses it and, as automatic modules, can't require it.
    requires org.apache.commons.logging;

    exports dev.holdfast.spring;
    exports dev.holdfast.spring.leader;

    // The container makes them, and expressions read the root object.
    opens dev.holdfast.spring.advice to
            spring.beans,
            spring.core,
            spring.context,
            spring.expression;
}
