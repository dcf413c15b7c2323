package dev.holdfast.store.jdbc;

import dev.holdfast.servers.sql.TestDatabase;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A test with a {@link TestDatabase} parameter that runs on each kind of server. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest
@EnumSource(
        value = TestDatabase.class,
        names = {"POSTGRES", "MARIADB"})
public @interface OnEachServer {}
