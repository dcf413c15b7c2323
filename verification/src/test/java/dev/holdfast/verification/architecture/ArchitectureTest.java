package dev.holdfast.verification.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("The main code of all modules")
class ArchitectureTest {

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            // The rules for adapters of registers, which other tests extend.
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages("dev.holdfast");

    static Stream<ArchRule> rules() {
        return Stream.of(
                Rules.DEPENDENCIES_POINT_TO_THE_CORE,
                Rules.THE_CORE_STANDS_ALONE,
                Rules.THE_ENGINE_IS_PRIVATE,
                Rules.THE_SPI_DOES_NOT_KNOW_THE_ENGINE,
                Rules.THE_CONTRACT_DOES_NOT_KNOW_THE_HELPERS,
                Rules.PACKAGES_OF_THE_ENGINE_USE_THOSE_BELOW,
                Rules.ONLY_THE_ENTRANCES_KNOW_EACH_OTHER,
                Rules.PACKAGES_OF_STORES_ARE_FREE_OF_CYCLES,
                Rules.PACKAGES_OF_BENCHMARKS_ARE_FREE_OF_CYCLES,
                Rules.CYCLES_OF_CLASSES_ARE_SMALL,
                Rules.PACKAGES_ON_SQL_USE_THOSE_BELOW,
                Rules.NOTHING_IS_TAKEN_FROM_THE_MACHINE,
                Rules.ONLY_ONE_CLASS_LOOKS_AT_THE_DATE);
    }

    @ParameterizedTest(name = "{0}")
    @Tag("C10")
    @MethodSource("rules")
    void keepsTheRule(ArchRule rule) {
        rule.check(MAIN);
    }

    @Test
    @DisplayName("is what the rules look at: every module is there, and no test")
    void isImported() {
        assertThat(MAIN.stream().map(Module::of).distinct()).contains(Module.values());
        assertThat(MAIN.contain(ArchitectureTest.class)).isFalse();
    }

    @Test
    @DisplayName("has no more than thirty types in a package of a store, the engine, the command or the benchmarks")
    void packagesAreSmall() {
        Map<String, Long> sizes = MAIN.stream()
                .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
                .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
        assertThat(sizes.entrySet())
                .filteredOn(
                        size -> size.getKey().matches("dev\\.holdfast\\.(store|engine|sql|spi|cli|benchmarks)\\b.*"))
                .isNotEmpty()
                .allSatisfy(size -> assertThat(size.getValue()).isLessThanOrEqualTo(30));
    }
}
