package dev.holdfast.verification.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Set;

/**
 * The modules, distinguished by package, and what each may use. A package that no other module claims is the core's.
 */
enum Module {
    CORE("dev.holdfast"),
    MEMORY("dev.holdfast.store.memory", CORE),
    SQL("dev.holdfast.sql", CORE),
    LEDGER("dev.holdfast.store.ledger", CORE),
    REGISTER("dev.holdfast.store.register", CORE),
    SQLITE("dev.holdfast.store.sqlite", CORE, LEDGER),
    JDBC("dev.holdfast.store.jdbc", CORE, SQL, LEDGER),
    REDIS("dev.holdfast.store.redis", CORE),
    ETCD("dev.holdfast.store.etcd", CORE, REGISTER),
    ZOOKEEPER("dev.holdfast.store.zookeeper", CORE, REGISTER),
    QUORUM("dev.holdfast.store.quorum", CORE),
    CONSOLE("dev.holdfast.console", CORE),
    SPRING("dev.holdfast.spring", CORE),
    SERVERS("dev.holdfast.servers", CORE),
    TEST("dev.holdfast.test", CORE, MEMORY),
    MICROMETER("dev.holdfast.micrometer", CORE),
    SPRING_BOOT("dev.holdfast.spring.boot", CORE, CONSOLE, SPRING, MICROMETER, JDBC, REDIS, ETCD, ZOOKEEPER),
    SPRING_TEST("dev.holdfast.spring.test", CORE, TEST, SPRING_BOOT),
    SHEDLOCK("dev.holdfast.shedlock", CORE),
    SPRING_INTEGRATION("dev.holdfast.spring.integration", CORE),
    TESTKIT("dev.holdfast.testkit", CORE, MEMORY),
    CLI("dev.holdfast.cli", CORE, CONSOLE, MEMORY, SQLITE, REDIS, QUORUM),
    BENCHMARKS("dev.holdfast.benchmarks", CORE, MEMORY, SQLITE, JDBC, REDIS, ETCD, ZOOKEEPER, SERVERS);

    private final String root;
    private final Set<Module> uses;

    Module(String root, Module... uses) {
        this.root = root;
        this.uses = Set.of(uses);
    }

    static Module of(JavaClass type) {
        String name = type.getPackageName();
        return Arrays.stream(values())
                .filter(module -> module != CORE && module.holds(name))
                // Of two that hold it, the one inside of the other.
                .max(Comparator.comparingInt(module -> module.root.length()))
                .orElseGet(() -> unlisted(name));
    }

    /** A new store or tool has to be listed here before its code can be checked, or it would pass as the core. */
    private static Module unlisted(String packageName) {
        if (packageName.startsWith("dev.holdfast.store.")) {
            throw new IllegalStateException("Add the module of " + packageName + " to " + Module.class.getName());
        }
        return CORE;
    }

    private boolean holds(String packageName) {
        return packageName.equals(root) || packageName.startsWith(root + ".");
    }

    boolean mayUse(Module other) {
        return other == this || uses.contains(other);
    }

    /** Whether this module is the core or a store: code whose time, chance and text must not depend on the machine. */
    boolean isDeterministic() {
        return this == CORE || this == SQL || root.startsWith("dev.holdfast.store.");
    }
}
