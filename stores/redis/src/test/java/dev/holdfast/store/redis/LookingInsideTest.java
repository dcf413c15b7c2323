package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Permits;
import io.lettuce.core.ScriptOutputType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The line of {@code redis-cli} on the page of the store. */
@Tag("server")
class LookingInsideTest {

    private static final Path PAGE = Path.of("..", "..", "docs", "stores", "redis.md");
    private static final Pattern COMMAND = Pattern.compile("^redis-cli EVAL \"(.*)\" 1 '(.*)'$", Pattern.MULTILINE);

    @Test
    void theLineOnThePagePrintsWhoHoldsAndHowManyWait() throws Exception {
        Matcher command = COMMAND.matcher(Files.readString(PAGE));
        assertThat(command.find()).isTrue();
        assertThat(command.group(2)).isEqualTo("holdfast:{0}:h");
        String script = command.group(1).replace("\\\\", "\\"); // as a shell reads it between double quotes
        TestServer server = TestServer.shared();
        String uri = "redis://127.0.0.1:" + server.port() + "?namespace=inside";
        try (Holdfast one = Holdfast.builder(uri).label("app-1").build();
                Holdfast two = Holdfast.builder(uri).label("app-2").build();
                Hold hold = one.lock("nightly-report").acquire();
                Permits first = one.semaphore("gpu", 4).acquire(2);
                Permits second = two.semaphore("gpu", 4).acquire()) {
            CompletableFuture<Hold> waiting =
                    two.lock("nightly-report").acquireAsync().toCompletableFuture();
            until(
                    "the waiter is queued",
                    () -> one.inspect("nightly-report").orElseThrow().waiting() == 1);
            server.with(redis -> {
                List<String> lines = redis.eval(script, ScriptOutputType.MULTI, "inside:{0}:h");
                assertThat(lines)
                        .containsExactlyInAnyOrder(
                                "nightly-report: 1 held, by app-1, 1 waiting", "gpu: 2 held, by app-1, 0 waiting");
            });
            assertThat(List.of(hold.isHeld(), first.isHeld(), second.isHeld())).containsOnly(true);
            hold.close();
            waiting.join().close();
        }
    }
}
