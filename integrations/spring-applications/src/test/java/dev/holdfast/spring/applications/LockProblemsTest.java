package dev.holdfast.spring.applications;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.Locked;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import reactor.core.publisher.Mono;

@Timeout(180)
@DisplayName("The exception handler of the guide, in an application with a web server,")
class LockProblemsTest {

    private static final String JSON = "application/json";
    private static final String HTML = "text/html";

    @RestControllerAdvice
    @Order(0)
    static class LockProblems {

        @ExceptionHandler(LockWaitTimeoutException.class)
        ProblemDetail taken() {
            return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, "Another request is at work on this.");
        }

        @ExceptionHandler(LockLostException.class)
        ProblemDetail lost() {
            return ProblemDetail.forStatusAndDetail(
                    HttpStatus.CONFLICT, "The request was interrupted, and may have been carried out in part.");
        }

        @ExceptionHandler(StoreUnavailableException.class)
        ResponseEntity<ProblemDetail> unavailable() {
            return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE)
                    .header(HttpHeaders.RETRY_AFTER, "5")
                    .body(ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, "Try again later."));
        }
    }

    /** Each way in which a method of a controller can return. */
    @RestController
    static class Accounts {

        private final CompletableFuture<Long> hangsWithToken = new CompletableFuture<>();

        @PostMapping("/value")
        @Locked(name = "account", maxWait = "0s")
        public String value() {
            return "token " + CurrentLocks.fencingToken();
        }

        @PostMapping("/stage")
        @Locked(name = "account", maxWait = "0s")
        public CompletableFuture<String> stage() {
            return CompletableFuture.completedFuture("token " + CurrentLocks.fencingToken());
        }

        @PostMapping("/mono")
        @Locked(name = "account", maxWait = "0s")
        public Mono<String> mono() {
            return Mono.just("token " + CurrentLocks.fencingToken());
        }

        @PostMapping("/hangs")
        @Locked(name = "account", maxWait = "0s")
        public String hangs() throws InterruptedException {
            hangsWithToken.complete(CurrentLocks.fencingToken());
            TimeUnit.MINUTES.sleep(1);
            return "done";
        }

        /** Asked for by a method, since the bean is a proxy. */
        public CompletableFuture<Long> hangsWithToken() {
            return hangsWithToken;
        }
    }

    /** An application's handler of everything else, which Spring would ask first if the guide's had no order. */
    @ControllerAdvice
    static class Anything {

        @ExceptionHandler(Exception.class)
        ResponseEntity<String> unexpected() {
            return ResponseEntity.internalServerError().body("unexpected");
        }
    }

    @TempDir
    private Path directory;

    private String store() {
        return "sqlite:" + directory.resolve("locks.db");
    }

    private ConfigurableApplicationContext start(WebApplicationType type, String... properties) {
        return Applications.open(type, Accounts.class, LockProblems.class)
                .properties("holdfast.store=" + store())
                .properties(properties)
                .run();
    }

    private static void assertProblem(HttpResponse<String> response, int status, String detail) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(response.body())
                .contains("\"status\":" + status)
                .contains(detail)
                // Neither the lock nor who holds it is for clients.
                .doesNotContain("token")
                .doesNotContain("locks.db");
    }

    private static List<String> paths(WebApplicationType type) {
        return type == WebApplicationType.SERVLET
                ? List.of("/value", "/stage", "/mono")
                // The threads of such a server are not to be blocked.
                : List.of("/stage", "/mono");
    }

    @ParameterizedTest(name = "{0}, with the problem details of Spring: {1}")
    @CsvSource({"SERVLET, false", "SERVLET, true", "REACTIVE, false", "REACTIVE, true"})
    @DisplayName("tells a client that another request has the lock")
    void taken(WebApplicationType type, boolean problemDetails) throws Exception {
        try (ConfigurableApplicationContext context = start(
                        type,
                        "spring.mvc.problemdetails.enabled=" + problemDetails,
                        "spring.webflux.problemdetails.enabled=" + problemDetails);
                Holdfast other = Holdfast.connect(store())) {
            try (Hold hold = other.lock("account").acquire()) {
                for (String path : paths(type)) {
                    for (String accept : List.of(JSON, HTML)) {
                        assertProblem(Applications.post(context, path, accept), 409, "Another request");
                    }
                }
                assertThat(hold.isHeld()).isTrue();
            }
            for (String path : paths(type)) {
                HttpResponse<String> response = Applications.post(context, path, HTML);
                assertThat(response.statusCode()).isEqualTo(200);
                assertThat(response.body()).startsWith("token ");
            }
        }
    }

    @Test
    @DisplayName("interrupts a request that loses its lock, and tells the client of it")
    void lost() throws Exception {
        try (ConfigurableApplicationContext context = start(WebApplicationType.SERVLET);
                Holdfast other = Holdfast.connect(store())) {
            CompletableFuture<HttpResponse<String>> response = Applications.postAsync(context, "/hangs", HTML);
            long token = context.getBean(Accounts.class).hangsWithToken().get(30, TimeUnit.SECONDS);
            assertThat(other.forceRelease("account", token)).isTrue();
            assertProblem(response.get(30, TimeUnit.SECONDS), 409, "in part");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    @DisplayName("tells a client when to come back if the store is away")
    void unavailable(WebApplicationType type) throws Exception {
        try (ConfigurableApplicationContext context = start(
                type,
                "holdfast.store=redis://localhost:1",
                "holdfast.open-at-startup=false",
                "holdfast.store-timeout=1s")) {
            for (String path : paths(type)) {
                HttpResponse<String> response = Applications.post(context, path, JSON);
                assertProblem(response, 503, "Try again later.");
                assertThat(response.headers().firstValue("Retry-After")).contains("5");
            }
        }
    }

    @Test
    @DisplayName("comes before a handler of the application for everything else")
    void amongOthers() throws Exception {
        try (ConfigurableApplicationContext context = Applications.open(
                                WebApplicationType.SERVLET, Anything.class, Accounts.class, LockProblems.class)
                        .properties("holdfast.store=" + store())
                        .run();
                Holdfast other = Holdfast.connect(store())) {
            try (Hold hold = other.lock("account").acquire()) {
                assertProblem(Applications.post(context, "/value", JSON), 409, "Another request");
                assertThat(hold.isHeld()).isTrue();
            }
        }
    }
}
