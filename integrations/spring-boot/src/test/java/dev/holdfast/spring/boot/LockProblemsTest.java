package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

@DisplayName("The handler of the guide answers a request")
class LockProblemsTest {

    @RestControllerAdvice
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

    /** Calls the handler that Spring would find, by the type of the exception. */
    private static Object answer(HoldfastException thrown) throws Exception {
        return Arrays.stream(LockProblems.class.getDeclaredMethods())
                .filter(each -> each.isAnnotationPresent(ExceptionHandler.class))
                .filter(each ->
                        each.getAnnotation(ExceptionHandler.class).value()[0].isInstance(thrown))
                .findFirst()
                .orElseThrow()
                .invoke(new LockProblems());
    }

    private static HoldfastException thrown(Holdfast holdfast) throws InterruptedException {
        try {
            holdfast.lock("ledger").acquire(Duration.ZERO).close();
            throw new AssertionError("acquired");
        } catch (HoldfastException e) {
            return e;
        }
    }

    @Test
    @DisplayName("with 409 if the lock is taken or lost, and with 503 and a time if the store is away")
    void answers() throws Exception {
        String store = "memory:problems";
        try (Holdfast one = Holdfast.connect(store);
                Holdfast two = Holdfast.connect(store)) {
            Hold hold = one.lock("ledger").acquire();
            assertThat(answer(thrown(two)))
                    .isInstanceOfSatisfying(
                            ProblemDetail.class,
                            problem -> assertThat(problem.getStatus()).isEqualTo(409));
            assertThat(two.forceRelease("ledger", hold.fencingToken())).isTrue();
            HoldfastException lost = null;
            try {
                hold.close();
            } catch (HoldfastException e) {
                lost = e;
            }
            assertThat(lost).isInstanceOf(LockLostException.class);
            assertThat(answer(lost))
                    .isInstanceOfSatisfying(
                            ProblemDetail.class,
                            problem -> assertThat(problem.getStatus()).isEqualTo(409));
        }
        HoldfastException away = new StoreUnavailableException("away", "ledger", store, null);
        assertThat(answer(away)).isInstanceOfSatisfying(ResponseEntity.class, response -> {
            assertThat(response.getStatusCode().value()).isEqualTo(503);
            assertThat(response.getHeaders().getFirst(HttpHeaders.RETRY_AFTER)).isEqualTo("5");
        });
    }
}
