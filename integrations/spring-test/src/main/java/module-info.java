/** An annotation that puts a store in memory, with faults on demand, into the application context of a test. */
// Spring's jars are modules by their names only.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module dev.holdfast.spring.test {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires static transitive org.junit.jupiter.api;
    requires transitive dev.holdfast;
    requires transitive dev.holdfast.test;
    requires org.slf4j;
    requires spring.beans;
    requires spring.context;
    requires spring.core;
    requires spring.test;
    // Spring uses it and, as automatic modules, can't require it.
    requires org.apache.commons.logging;

    // What an application has or has not.
    requires static dev.holdfast.spring.boot;

    exports dev.holdfast.spring.test;

    // Spring and JUnit make what is not public.
    opens dev.holdfast.spring.test to
            org.junit.platform.commons,
            spring.beans,
            spring.core,
            spring.test;
}
