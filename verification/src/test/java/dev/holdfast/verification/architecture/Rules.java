package dev.holdfast.verification.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.holdfast.Environment;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Function;

/** The rules of the architecture. */
final class Rules {

    private static final DescribedPredicate<JavaClass> OURS = resideInAPackage("dev.holdfast..");

    /** What shows operators since when a lock is held, and when a task was run; nothing is decided by it. */
    private static final Set<String> SHOW_DATES = Set.of(
            "dev.holdfast.admin.LockInfo$Holder",
            "dev.holdfast.admin.RecordedRun",
            "dev.holdfast.engine.client.LockViews",
            "dev.holdfast.engine.client.RunText",
            "dev.holdfast.engine.task.RunRecorder");

    private static final Set<String> DATES = Set.of(
            "java.time.Clock",
            "java.time.Instant",
            "java.time.LocalDate",
            "java.time.LocalDateTime",
            "java.time.LocalTime",
            "java.time.OffsetDateTime",
            "java.time.ZonedDateTime",
            "java.util.Calendar",
            "java.util.Date");

    private static final DescribedPredicate<JavaClass> IN_CORE =
            describe("are in the core", type -> OURS.test(type) && Module.of(type) == Module.CORE);

    /** A module uses only those that {@link Module} lists for it. */
    static final ArchRule DEPENDENCIES_POINT_TO_THE_CORE = classes()
            .that(OURS)
            .should(useOnlyModulesBelow())
            .because("dependencies point one way: everything to the core");

    /** The core brings nothing along but annotations and the logging facade. */
    static final ArchRule THE_CORE_STANDS_ALONE = classes()
            .that(IN_CORE)
            .should()
            .onlyDependOnClassesThat(IN_CORE.or(resideInAnyPackage(
                    "java..", "jdk.jfr", "org.slf4j", "org.jspecify..", "com.google.errorprone.annotations..")))
            .because("whoever adds the core to a program must not get more than the core");

    /** What is in the engine may change in any release. */
    static final ArchRule THE_ENGINE_IS_PRIVATE = noClasses()
            .that(describe(
                    "are neither in the core nor in the test kit",
                    type -> OURS.test(type) && Module.of(type) != Module.CORE && Module.of(type) != Module.TESTKIT))
            .should()
            .dependOnClassesThat(resideInAPackage("dev.holdfast.engine.."))
            .because("the engine makes no promises; use the API or the SPI");

    /** A store can be written without the engine. */
    static final ArchRule THE_SPI_DOES_NOT_KNOW_THE_ENGINE = noClasses()
            .that()
            .resideInAPackage("dev.holdfast.spi..")
            .should()
            .dependOnClassesThat(resideInAPackage("dev.holdfast.engine.."))
            .because("a store author must be able to read the SPI alone");

    /** A store can be written without the helpers. */
    static final ArchRule THE_CONTRACT_DOES_NOT_KNOW_THE_HELPERS = noClasses()
            .that()
            .resideInAPackage("dev.holdfast.spi")
            .should()
            .dependOnClassesThat(resideInAPackage("dev.holdfast.spi.support.."))
            .because("helpers are a choice of each store, and may change without a change of the contract");

    /** In a store each package is below or above each other one. */
    static final ArchRule PACKAGES_OF_STORES_ARE_FREE_OF_CYCLES = packagesAreFreeOfCycles("dev.holdfast.store");

    /** So it is in the benchmarks. */
    static final ArchRule PACKAGES_OF_BENCHMARKS_ARE_FREE_OF_CYCLES =
            packagesAreFreeOfCycles("dev.holdfast.benchmarks");

    /** What depends on each other can only be read together. */
    static final ArchRule CYCLES_OF_CLASSES_ARE_SMALL = cyclesHaveAtMost(8);

    /** A package of the engine uses only those that {@link EnginePackage} lists for it. */
    static final ArchRule PACKAGES_OF_THE_ENGINE_USE_THOSE_BELOW = classes()
            .that(describe("are below the engine's entrance", Rules::isBelowTheEntrance))
            .should(useOnlyPackagesBelow(EnginePackage::of, EnginePackage::mayUse))
            .because("each primitive stands on the local tier, that on sessions, and those on the wire");

    /** A package of what stands on SQL databases uses only those that {@link SqlPackage} lists for it. */
    static final ArchRule PACKAGES_ON_SQL_USE_THOSE_BELOW = classes()
            .that(describe("stand on SQL databases", type -> SqlPackage.of(type).isPresent()))
            .should(useOnlyPackagesBelow(SqlPackage::of, SqlPackage::mayUse))
            .because("files, servers and rows are separate products, and the ledger knows none of them");

    /** The engine's packages know the values and the contracts of the API, not where it is entered. */
    static final ArchRule ONLY_THE_ENTRANCES_KNOW_EACH_OTHER = noClasses()
            .that(describe("are below the engine's entrance", Rules::isBelowTheEntrance))
            .should()
            .dependOnClassesThat(describe(
                    "are an entrance",
                    type -> type.getPackageName().equals("dev.holdfast.engine")
                            || type.getName().startsWith("dev.holdfast.Holdfast$")
                            || type.getName().equals("dev.holdfast.Holdfast")))
            .because("the wiring is in one place");

    /** The core and the stores take nothing from the machine but through {@link Ambient#DOORS}. */
    static final ArchRule NOTHING_IS_TAKEN_FROM_THE_MACHINE = classes()
            .that(describe(
                    "are in the core or in a store and not one of " + Ambient.DOORS,
                    type -> OURS.test(type) && Module.of(type).isDeterministic() && !isDoor(type)))
            .should(takeNothingFromTheMachine())
            .because("time, chance and sleep are injected, and language and encoding are named:"
                    + " results must not depend on the machine, and simulations must be able to replay them");

    /** C10: no date is sent to a store or decides anything; a jump of it is found out by one class. */
    static final ArchRule ONLY_ONE_CLASS_LOOKS_AT_THE_DATE = noClasses()
            .that(IN_CORE)
            .and()
            .doNotHaveFullyQualifiedName("dev.holdfast.engine.time.ElapsedClock")
            .and()
            .areNotAssignableTo(Environment.class) // one that stands before another hands it on
            .and(describe("show no date to people", type -> !SHOW_DATES.contains(type.getName())))
            .should()
            .callMethodWhere(describe(
                    "it reads the wall clock of the environment",
                    call -> call.getTarget().getName().equals("wallMillis")))
            .orShould()
            .dependOnClassesThat(describe("tell a date", type -> DATES.contains(type.getName())))
            .because("machines disagree on the date, and it may be set at any time");

    private Rules() {}

    static ArchRule cyclesHaveAtMost(int most) {
        return classes()
                .that(IN_CORE)
                .should(new ClassCycles(most))
                .because("classes that all depend on each other can only be read together");
    }

    /** A nested class belongs to the class that it is nested in. */
    private static boolean isDoor(JavaClass type) {
        return Ambient.DOORS.contains(type.getName())
                || type.getEnclosingClass().map(Rules::isDoor).orElse(false);
    }

    private static ArchRule packagesAreFreeOfCycles(String parent) {
        return slices().matching(parent + ".(**)")
                .should()
                .beFreeOfCycles()
                .because("a package that can't be read without the next one is a part of it");
    }

    private static boolean isBelowTheEntrance(JavaClass type) {
        return EnginePackage.of(type).isPresent();
    }

    private static <P> ArchCondition<JavaClass> useOnlyPackagesBelow(
            Function<JavaClass, Optional<P>> packageOf, BiPredicate<P, P> mayUse) {
        return new ArchCondition<>("use only packages below their own") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                P own = packageOf.apply(type).orElseThrow();
                for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                    packageOf
                            .apply(dependency.getTargetClass().getBaseComponentType())
                            .filter(target -> !mayUse.test(own, target))
                            .ifPresent(target ->
                                    events.add(SimpleConditionEvent.violated(type, dependency.getDescription())));
                }
            }
        };
    }

    private static ArchCondition<JavaClass> useOnlyModulesBelow() {
        return new ArchCondition<>("use only modules below their own") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                Module own = Module.of(type);
                for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                    JavaClass target = dependency.getTargetClass().getBaseComponentType();
                    if (OURS.test(target) && !own.mayUse(Module.of(target))) {
                        events.add(SimpleConditionEvent.violated(type, dependency.getDescription()));
                    }
                }
            }
        };
    }

    private static ArchCondition<JavaClass> takeNothingFromTheMachine() {
        return new ArchCondition<>("take nothing from the machine") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                for (JavaAccess<?> access : type.getAccessesFromSelf()) {
                    if (Ambient.isTakenBy(access)) {
                        events.add(SimpleConditionEvent.violated(access, access.getDescription()));
                    }
                }
            }
        };
    }
}
