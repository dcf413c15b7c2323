package dev.holdfast.spring.applications;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import reactor.core.scheduler.Schedulers;

@Timeout(180)
@DisplayName("The events of an application's console")
class ConsoleEventsTest {

    private static final String API = "/actuator/holdfastconsole/holdfast/api/";
    private static final int MAX_STREAMS = 50;

    private final HttpClient client = HttpClient.newHttpClient();

    /** Threads of Reactor that an application before started would have its class loader, which is closed. */
    @BeforeEach
    void endThreads() {
        Schedulers.shutdownNow();
    }

    private static SpringApplicationBuilder application(WebApplicationType type) {
        SpringApplicationBuilder application = type == WebApplicationType.SERVLET
                ? Applications.secured(type, EndpointSecurityTest.Users.class, ConsoleEndpointTest.Guide.class)
                : Applications.open(type);
        return application.properties(
                "holdfast.store=memory:", "management.endpoints.web.exposure.include=holdfastconsole");
    }

    private HttpResponse<InputStream> get(ApplicationContext context, String path, String accept) {
        return getAsync(context, path, accept).join();
    }

    /** A stream answers with its first event, within about a second. */
    private CompletableFuture<HttpResponse<InputStream>> getAsync(
            ApplicationContext context, String path, String accept) {
        HttpRequest request = Applications.request(context, API + path)
                .header("Authorization", "Basic dmlld2VyOnNlY3JldA==") // viewer, secret
                .header("Accept", accept)
                .build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofInputStream());
    }

    private static BufferedReader reader(HttpResponse<InputStream> response) {
        return new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
    }

    private static void awaitData(BufferedReader stream, String text) throws IOException {
        String line;
        do {
            line = stream.readLine();
            assertThat(line).as("an event with " + text).isNotNull();
        } while (!line.startsWith("data:") || !line.contains(text));
    }

    private static long threads(String prefix) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(prefix))
                .count();
    }

    @ParameterizedTest(name = "{0}")
    @DisplayName("follow changes, for fifty pages without a thread for each, and end before the server waits for them")
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void events(WebApplicationType type) throws Exception {
        List<BufferedReader> streams = new ArrayList<>();
        long closing;
        try (ConfigurableApplicationContext context = application(type).run()) {
            assertThat(reader(get(context, "state", "application/json")).readLine())
                    .contains("\"events\":true");
            List<CompletableFuture<HttpResponse<InputStream>>> responses = new ArrayList<>();
            for (int i = 0; i < MAX_STREAMS; i++) {
                String view = i % 2 == 0 ? "locks" : "tasks";
                responses.add(getAsync(context, "events?view=" + view, "text/event-stream"));
            }
            for (CompletableFuture<HttpResponse<InputStream>> each : responses) {
                HttpResponse<InputStream> response = each.join();
                assertThat(response.headers().firstValue("Content-Type"))
                        .hasValueSatisfying(value -> assertThat(value).startsWith("text/event-stream"));
                streams.add(reader(response));
            }
            HttpResponse<InputStream> oneMore = get(context, "events?view=locks", "text/event-stream");
            assertThat(oneMore.statusCode()).isEqualTo(type == WebApplicationType.SERVLET ? 503 : 200);
            assertThat(reader(oneMore).lines().toList()).noneMatch(line -> line.startsWith("data:"));
            try (Hold hold = context.getBean(Holdfast.class).lock("invoice-run").acquire()) {
                for (int i = 0; i < MAX_STREAMS; i++) {
                    awaitData(streams.get(i), i % 2 == 0 ? "\"token\":\"" + hold.fencingToken() : "\"tasks\":[]");
                }
            }
            assertThat(threads("holdfast-console-events")).isEqualTo(1);
            assertThat(threads("holdfast-console-sender")).isLessThanOrEqualTo(4);
            streams.remove(0).close();
            closing = System.nanoTime();
        }
        for (BufferedReader stream : streams) {
            assertThat(stream.lines().toList()).isNotNull();
        }
        assertThat(Duration.ofNanos(System.nanoTime() - closing)).isLessThan(Duration.ofSeconds(20));
        assertThat(threads("holdfast-console-events")).isZero();
    }
}
