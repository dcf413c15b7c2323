package dev.holdfast.micrometer;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.test.TestStore;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What the dashboard and the alert rules ask Prometheus for, a client exposes")
class DashboardTest {

    private static final Path PAGES = Path.of("../../docs/metrics");
    private static final Pattern SAMPLE = Pattern.compile("^(holdfast_\\w+)(?:\\{(.*)})? \\S+$", Pattern.MULTILINE);
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");
    private static final Pattern SELECTOR = Pattern.compile("(holdfast_\\w+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("(\\w+)(=~|!=|!~|=)\"([^\"]*)\"");
    private static final Pattern GROUPING = Pattern.compile("by \\(([^)]*)\\)");
    private static final Pattern RULE =
            Pattern.compile("^ +expr: (?:>-\\n((?: {10}.*\\n)+)|(.*)\\n)", Pattern.MULTILINE);

    /** The values of each label of each metric that was scraped. */
    private static final Map<String, Map<String, Set<String>>> EXPOSED = new HashMap<>();

    @BeforeAll
    static void scrape() throws Exception {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (TestStore store = TestStore.create(builder -> builder.listener(HoldfastMetrics.of(registry)))) {
            Hold other = store.take("ledger");
            assertThatThrownBy(() -> store.callWhileTimePasses(() -> store.client()
                            .lock("ledger")
                            .acquire(AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(1)))))
                    .isInstanceOf(LockWaitTimeoutException.class);
            other.close();
            Hold lost = store.client().lock("ledger").acquire();
            store.loseLock("ledger");
            lost.releaseAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
            TaskOptions options = TaskOptions.atMost(Duration.ofMinutes(1));
            store.client().task("report").runIfDue(options, hold -> {});
            store.client().task("report").tryBegin(options).orElseThrow().close();
            store.advance(Duration.ofSeconds(25));
            SAMPLE.matcher(registry.scrape()).results().forEach(DashboardTest::note);
        }
    }

    private static void note(MatchResult sample) {
        Map<String, Set<String>> labels = EXPOSED.computeIfAbsent(sample.group(1), name -> new HashMap<>());
        if (sample.group(2) != null) {
            LABEL.matcher(sample.group(2))
                    .results()
                    .forEach(label -> labels.computeIfAbsent(label.group(1), name -> new HashSet<>())
                            .add(label.group(2)));
        }
    }

    @Test
    @DisplayName("in each panel of the dashboard")
    void dashboard() throws IOException {
        JsonNode dashboard = new ObjectMapper()
                .readTree(PAGES.resolve("holdfast-dashboard.json").toFile());
        List<String> queries = new ArrayList<>();
        for (JsonNode panel : dashboard.get("panels")) {
            assertThat(panel.get("description").asText()).isNotBlank();
            assertThat(panel.get("targets")).isNotEmpty();
            panel.get("targets")
                    .forEach(target -> queries.add(target.get("expr").asText()));
        }
        assertThat(queries).hasSizeGreaterThan(15);
        queries.forEach(DashboardTest::expectAnswerable);
        Set<String> used = queries.stream()
                .flatMap(query -> SELECTOR.matcher(query).results())
                .map(found -> found.group(1))
                .collect(toSet());
        assertThat(used).as("each metric is on the dashboard").containsAll(EXPOSED.keySet());
    }

    @Test
    @DisplayName("in each alert rule")
    void alerts() throws IOException {
        String rules = Files.readString(PAGES.resolve("holdfast-alerts.yml"));
        List<String> queries = RULE.matcher(rules)
                .results()
                .map(rule -> rule.group(1) == null ? rule.group(2) : rule.group(1))
                .toList();
        assertThat(queries).hasSize(rules.split("- alert: ", -1).length - 1);
        queries.forEach(DashboardTest::expectAnswerable);
    }

    /** Each metric, label and value that a query names is exposed. */
    private static void expectAnswerable(String query) {
        List<MatchResult> selectors = SELECTOR.matcher(query).results().toList();
        assertThat(selectors).as(query).isNotEmpty();
        for (MatchResult selector : selectors) {
            assertThat(EXPOSED).as(query).containsKey(selector.group(1));
            Map<String, Set<String>> labels = EXPOSED.getOrDefault(selector.group(1), Map.of());
            if (selector.group(2) != null) {
                MATCHER.matcher(selector.group(2)).results().forEach(matcher -> expectExposed(query, labels, matcher));
            }
            Matcher grouping = GROUPING.matcher(query);
            while (grouping.find()) {
                assertThat(labels.keySet()).as(query).contains(grouping.group(1).split(", "));
            }
        }
    }

    private static void expectExposed(String query, Map<String, Set<String>> labels, MatchResult matcher) {
        assertThat(labels).as(query).containsKey(matcher.group(1));
        if (!matcher.group(3).startsWith("$")) {
            assertThat(labels.get(matcher.group(1)))
                    .as(query)
                    .contains(matcher.group(3).split("\\|"));
        }
    }
}
