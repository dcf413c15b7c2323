/** Open, as the container makes the beans and their proxies by reflection. */
// Spring's jars are modules by their names only.
@SuppressWarnings("requires-automatic")
open module com.example.springtest {
    requires dev.holdfast.spring;
    requires dev.holdfast.spring.test;
    requires org.junit.jupiter.api;
    requires org.junit.platform.launcher;
    requires spring.beans;
    requires spring.context;
    requires spring.test;
}
