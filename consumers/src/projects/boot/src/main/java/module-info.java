/** Open, as the container makes the beans and their proxies by reflection. */
// Spring's jars are modules by their names only.
@SuppressWarnings("requires-automatic")
open module com.example.boot {
    requires dev.holdfast.spring;
    requires dev.holdfast.spring.boot;
    requires spring.boot;
    requires spring.boot.autoconfigure;
}
