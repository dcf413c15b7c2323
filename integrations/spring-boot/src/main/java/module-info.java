/** Holdfast in a Spring Boot application: what it needs is configured by properties and by the application's beans. */
// Spring's jars are modules by their names only.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module dev.holdfast.spring.boot {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires dev.holdfast.console;
    requires org.slf4j;
    requires transitive spring.beans;
    requires spring.boot;
    requires spring.boot.autoconfigure;
    requires spring.context;
    requires spring.core;

    // What an application has or has not.
    requires static dev.holdfast.micrometer;
    requires static dev.holdfast.spring;
    requires static dev.holdfast.store.etcd;
    requires static dev.holdfast.store.jdbc;
    requires static dev.holdfast.store.redis;
    requires static io.grpc;
    requires static io.netty.common;
    requires static lettuce.core;
    requires static micrometer.core;
    requires static micrometer.observation;
    requires static reactor.core;
    requires static spring.boot.actuator;
    requires static spring.boot.actuator.autoconfigure;
    requires static spring.boot.docker.compose;
    requires static spring.boot.health;
    requires static spring.boot.sql;
    requires static spring.boot.testcontainers;
    requires static spring.data.redis;
    requires static spring.web;
    requires static spring.webmvc;

    exports dev.holdfast.spring.boot;

    // Spring makes beans of package-private classes and binds properties to them.
    opens dev.holdfast.spring.boot to
            spring.beans,
            spring.boot,
            spring.context,
            spring.core;
}
