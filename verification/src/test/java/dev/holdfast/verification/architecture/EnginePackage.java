package dev.holdfast.verification.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The packages of the engine, from the bottom up, and which of the others each may use. */
enum EnginePackage {
    EXECUTION,
    TIME,
    OBSERVE,
    DEADLOCK,
    WIRE(EXECUTION, TIME, OBSERVE),
    CLIENT(EXECUTION, TIME, OBSERVE, DEADLOCK),
    SESSION(EXECUTION, TIME, OBSERVE, WIRE, CLIENT),
    LOCAL(EXECUTION, TIME, OBSERVE, DEADLOCK, WIRE, CLIENT, SESSION),
    LOCK(EXECUTION, TIME, CLIENT, SESSION, LOCAL),
    SEMAPHORE(EXECUTION, TIME, WIRE, CLIENT, SESSION, LOCAL),
    LATCH(EXECUTION, TIME, WIRE, CLIENT, SESSION, LOCAL),
    BARRIER(EXECUTION, TIME, WIRE, CLIENT, SESSION, LOCAL, LATCH),
    ELECTION(EXECUTION, TIME, WIRE, CLIENT, SESSION, LOCAL),
    TASK(EXECUTION, TIME, OBSERVE, WIRE, CLIENT, SESSION, LOCAL),
    MULTI(EXECUTION, TIME, CLIENT, SESSION, LOCAL, LOCK, SEMAPHORE),
    ADMIN(EXECUTION, TIME, WIRE, CLIENT, SESSION, LOCAL);

    private static final String ENGINE = "dev.holdfast.engine.";

    private final Set<EnginePackage> below;

    EnginePackage(EnginePackage... below) {
        this.below = Set.of(below);
    }

    /** The package of a class, unless it is the entrance of the engine or none of its classes. */
    static Optional<EnginePackage> of(JavaClass type) {
        String name = type.getPackageName();
        return name.startsWith(ENGINE)
                ? Optional.of(
                        valueOf(name.substring(ENGINE.length()).split("\\.")[0].toUpperCase(Locale.ROOT)))
                : Optional.empty();
    }

    boolean mayUse(EnginePackage other) {
        return this == other || below.contains(other);
    }
}
