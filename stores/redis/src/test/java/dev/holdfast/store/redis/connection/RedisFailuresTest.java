package dev.holdfast.store.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ConnectException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class RedisFailuresTest {

    @Test
    void aServerThatWasNotThereInTimeIsSaidToBeSo() {
        for (Throwable failure : new Throwable[] {
            new TimeoutException(),
            new ExecutionException(new TimeoutException()),
            new CompletionException(new TimeoutException())
        }) {
            assertThat(RedisFailures.ofOpening(failure, "the server"))
                    .hasMessage("the server can't be reached: it did not answer in time");
        }
    }

    @Test
    void whatIsKnownOfTheReasonIsTold() {
        assertThat(RedisFailures.ofOpening(new ExecutionException(new ConnectException("refused")), "the server"))
                .hasMessage("the server can't be reached: refused");
        assertThat(RedisFailures.ofOpening(new ExecutionException(new TimeoutException("after 1 s")), "the server"))
                .hasMessage("the server can't be reached: after 1 s");
    }
}
