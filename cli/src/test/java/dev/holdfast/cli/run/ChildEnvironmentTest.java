package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.store.StoreLocation;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ChildEnvironmentTest {

    private static final StoreLocation STORE = StoreLocation.of(null, Map.of());

    @Test
    void tellsAboutTheLock() {
        Map<String, String> environment = new HashMap<>(Map.of("HOME", "/h", "HOLDFAST_NAME", "of someone else"));
        ChildEnvironment.fill(environment, STORE, "m1", "a b", 7, "ann", 99);
        assertThat(environment)
                .isEqualTo(Map.of(
                        "HOME", "/h",
                        "HOLDFAST_NAME", "a b",
                        "HOLDFAST_TOKEN", "7",
                        "HOLDFAST_OWNER", "ann",
                        "HOLDFAST_DEADLINE", "99",
                        "HOLDFAST_STACK", "a%20b=7",
                        "HOLDFAST_HOLD", "m1"));
    }

    @Test
    void nestedLocksStack() {
        Map<String, String> environment = new HashMap<>();
        ChildEnvironment.fill(environment, STORE, "m1", "outer", 1, "ann", 99);
        ChildEnvironment.fill(environment, STORE, "m2", "in=n er", 2, "ann", 99);
        assertThat(environment)
                .containsEntry("HOLDFAST_NAME", "in=n er")
                .containsEntry("HOLDFAST_TOKEN", "2")
                .containsEntry("HOLDFAST_STACK", "outer=1 in%3Dn%20er=2")
                .containsEntry("HOLDFAST_HOLD", "m1,m2");
    }

    @Test
    void findsALockInTheStack() {
        String stack = "outer=1 in%3Dn%20er=2 outer=3";
        assertThat(ChildEnvironment.tokensAround(stack, "outer")).containsExactly(1L, 3L);
        assertThat(ChildEnvironment.tokensAround(stack, "in=n er")).containsExactly(2L);
        assertThat(ChildEnvironment.tokensAround(stack, "er")).isEmpty();
        assertThat(ChildEnvironment.tokensAround("x=abc x= x=-1 x=99999999999999999999", "x"))
                .isEmpty();
        assertThat(ChildEnvironment.tokensAround(null, "x")).isEmpty();
    }

    @Test
    void namesOfEveryKindSurviveTheStack() {
        assertThat(ChildEnvironment.encode("orders/42:a_b-c.d~")).isEqualTo("orders/42:a_b-c.d~");
        assertThat(ChildEnvironment.encode("é🔒\u001b%")).isEqualTo("%C3%A9%F0%9F%94%92%1B%25");
    }

    @Test
    void undoesWhatTheLauncherDidToTheLocale() {
        Map<String, String> environment = new HashMap<>(Map.of("LC_ALL", "C.UTF-8", "HOLDFAST_LAUNCHER_LC_ALL", "-"));
        ChildEnvironment.fill(environment, STORE, "m", "x", 1, "ann", 99);
        assertThat(environment).doesNotContainKeys("LC_ALL", "HOLDFAST_LAUNCHER_LC_ALL");
        environment.putAll(Map.of("LC_ALL", "C.UTF-8", "HOLDFAST_LAUNCHER_LC_ALL", "C"));
        ChildEnvironment.fill(environment, STORE, "m", "x", 1, "ann", 99);
        assertThat(environment).containsEntry("LC_ALL", "C").doesNotContainKey("HOLDFAST_LAUNCHER_LC_ALL");
    }
}
