package dev.holdfast.verification.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import dev.holdfast.badfixture.CoreThatUsesAStore;
import dev.holdfast.badfixture.FirstOfTwo;
import dev.holdfast.badfixture.SecondOfTwo;
import dev.holdfast.engine.time.badfixture.TimeThatLooksUp;
import dev.holdfast.spi.badfixture.SpiThatUsesTheEngine;
import dev.holdfast.store.ledger.table.badfixture.TableThatLooksUp;
import dev.holdfast.store.memory.badfixture.StoreThatBreaksRules;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A rule that can't fail proves nothing: classes that break them")
class RulesCanFailTest {

    @Test
    void coreUsesAStore() {
        assertThat(violations(Rules.DEPENDENCIES_POINT_TO_THE_CORE, CoreThatUsesAStore.class))
                .anyMatch(line -> line.contains("CoreThatUsesAStore.upwards"));
    }

    @Test
    void storeUsesATool() {
        assertThat(violations(Rules.DEPENDENCIES_POINT_TO_THE_CORE, StoreThatBreaksRules.class))
                .anyMatch(line -> line.contains("dev.holdfast.cli.Main"))
                .noneMatch(line -> line.contains("dev.holdfast.engine"));
    }

    @Test
    void coreUsesALibrary() {
        assertThat(violations(Rules.THE_CORE_STANDS_ALONE, CoreThatUsesAStore.class))
                .anyMatch(line -> line.contains("org.assertj"));
    }

    @Test
    void storeUsesTheEngine() {
        assertThat(violations(Rules.THE_ENGINE_IS_PRIVATE, StoreThatBreaksRules.class))
                .isNotEmpty();
    }

    @Test
    void spiUsesTheEngine() {
        assertThat(violations(Rules.THE_SPI_DOES_NOT_KNOW_THE_ENGINE, SpiThatUsesTheEngine.class))
                .isNotEmpty();
    }

    @Test
    void lowPackageUsesHighOne() {
        assertThat(violations(Rules.PACKAGES_OF_THE_ENGINE_USE_THOSE_BELOW, TimeThatLooksUp.class))
                .singleElement()
                .asString()
                .contains("SafetyRules");
    }

    @Test
    void twoClassesUseEachOther() {
        Class<?>[] cycle = {FirstOfTwo.class, FirstOfTwo.Nested.class, SecondOfTwo.class};
        assertThat(violations(Rules.cyclesHaveAtMost(1), cycle))
                .hasSize(2)
                .allMatch(line -> line.contains("cycle of 2 classes")
                        && line.contains("FirstOfTwo")
                        && line.contains("SecondOfTwo"));
        assertThat(violations(Rules.cyclesHaveAtMost(2), cycle)).isEmpty();
    }

    @Test
    void tableUsesTheLedger() {
        assertThat(violations(Rules.PACKAGES_ON_SQL_USE_THOSE_BELOW, TableThatLooksUp.class))
                .singleElement()
                .asString()
                .contains("Ledger");
    }

    @Test
    void lowPackageUsesAnEntrance() {
        assertThat(violations(Rules.ONLY_THE_ENTRANCES_KNOW_EACH_OTHER, TimeThatLooksUp.class))
                .hasSize(2)
                .anyMatch(line -> line.contains("dev.holdfast.engine.Engine"))
                .anyMatch(line -> line.contains("dev.holdfast.Holdfast"));
    }

    @Test
    void coreLooksAtTheDate() {
        assertThat(violations(Rules.ONLY_ONE_CLASS_LOOKS_AT_THE_DATE, CoreThatUsesAStore.class))
                .anyMatch(line -> line.contains("wallMillis"))
                .anyMatch(line -> line.contains("java.time.Instant"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Thread.sleep(",
                "System.nanoTime(",
                "System.currentTimeMillis(",
                "Instant.now(",
                "LocalDateTime.now(",
                "Date.<init>(",
                "ZoneId.systemDefault(",
                "Locale.getDefault(",
                "Charset.defaultCharset(",
                "Math.random(",
                "Random.<init>(",
                "ThreadLocalRandom.current(",
                "UUID.randomUUID(",
                "String.toLowerCase(",
                "String.format(",
                "String.getBytes(",
                "String.<init>(",
                "InputStreamReader.<init>("
            })
    void storeTakes(String call) {
        assertThat(violations(Rules.NOTHING_IS_TAKEN_FROM_THE_MACHINE, StoreThatBreaksRules.class))
                .filteredOn(line -> line.contains(call))
                .singleElement()
                .asString()
                .contains(".take([B)");
    }

    private static List<String> violations(ArchRule rule, Class<?>... fixture) {
        return rule.evaluate(new ClassFileImporter().importClasses(fixture))
                .getFailureReport()
                .getDetails();
    }
}
