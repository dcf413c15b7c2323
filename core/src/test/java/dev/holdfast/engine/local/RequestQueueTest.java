package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.execution.Audience;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The queue of local requests")
class RequestQueueTest {

    private static final ResourceSpec SPEC = new ResourceSpec(Kind.SEMAPHORE, 10, Order.BARGING);

    private final RequestQueue queue = new RequestQueue();
    private final DeferredActions deferred = new DeferredActions();
    private final Request first = request(AcquireTerms.FOREVER);
    private final Request second = request(AcquireTerms.FOREVER);
    private final Request third = request(AcquireTerms.FOREVER);

    private static Request request(AcquireTerms terms) {
        ResourceName name = new ResourceName("seats");
        return new Request(null, Mode.unowned(SPEC, 1), name, null, null, terms, Audience.USER, null);
    }

    private static Claim claim() {
        Claim.Terms terms = new Claim.Terms(Lease.SESSION, 1, Waiting.TRY, null, false);
        return new Claim(null, 1, new Session(new SessionId("s"), 1, 0, 0, 0), terms, 0);
    }

    private void appendAll() {
        queue.append(first);
        queue.append(second);
        queue.append(third);
    }

    /** The requests before the end of the queue, as a condition visits them. */
    private List<Request> all() {
        List<Request> seen = new ArrayList<>();
        assertThat(queue.has(request -> {
                    seen.add(request);
                    return false;
                }))
                .isFalse();
        return seen;
    }

    private List<Request> newcomers() {
        List<Request> taken = new ArrayList<>();
        queue.takeNewcomers(taken::add);
        return taken;
    }

    // ---- Order

    @Test
    @DisplayName("keeps the order of arrival, whichever request leaves")
    void order() {
        assertThat(queue.isEmpty()).isTrue();
        appendAll();
        assertThat(queue.isEmpty()).isFalse();
        assertThat(all()).containsExactly(first, second, third);
        assertThat(queue.size()).isEqualTo(3);

        queue.remove(second);
        assertThat(all()).containsExactly(first, third);
        queue.remove(third);
        assertThat(queue.tail()).isSameAs(first);
        assertThat(queue.hasSeveral()).isFalse();
        queue.append(third);
        assertThat(queue.hasSeveral()).isTrue();
        queue.remove(first);
        assertThat(queue.head()).isSameAs(third);
        assertThat(queue.size()).isEqualTo(1);
        queue.remove(third);
        queue.remove(third);

        assertThat(queue.isEmpty()).isTrue();
        assertThat(queue.head()).isNull();
        assertThat(queue.tail()).isNull();
        assertThat(queue.size()).isZero();
    }

    @Test
    @DisplayName("leaves out those that left between two others, seen from either end")
    void links() {
        appendAll();
        queue.remove(second);
        queue.remove(first);
        queue.append(first);
        assertThat(all()).containsExactly(third, first);
        queue.remove(first);
        assertThat(queue.tail()).isSameAs(third);
        assertThat(second.isQueued()).isFalse();
        assertThat(third.isQueued()).isTrue();
    }

    @Test
    @DisplayName("numbers its requests from 1, and no number comes again")
    void numbers() {
        appendAll();
        assertThat(List.of(first.number(), second.number(), third.number())).containsExactly(1L, 2L, 3L);
        queue.remove(third);
        assertThat(queue.newestNumber()).isEqualTo(3);
        queue.append(request(AcquireTerms.FOREVER));
        assertThat(queue.newestNumber()).isEqualTo(4);
    }

    @Test
    @DisplayName("looks before a request, and not at it or behind it")
    void before() {
        appendAll();
        assertThat(queue.hasBefore(second, request -> request == first)).isTrue();
        assertThat(queue.hasBefore(second, request -> request != first)).isFalse();
        assertThat(queue.has(request -> request == third)).isTrue();
    }

    @Test
    @DisplayName("is replaced by a new one if it is the empty constant, and only then")
    void constant() {
        assertThat(RequestQueue.NONE.orNew()).isNotSameAs(RequestQueue.NONE);
        assertThat(queue.orNew()).isSameAs(queue);
    }

    @Test
    @DisplayName("ends the requests that match, with a failure if there is one, and no other")
    void ends() {
        appendAll();
        queue.end(request -> request == second, null, () -> new IllegalStateException("unreachable"), deferred);
        queue.end(request -> request == third, "others", null, deferred);

        assertThat(all()).containsExactly(first);
        assertThat(first.isDone()).isFalse();
        assertThat(second.isDone()).isTrue();
        assertThat(second.failure().get()).hasMessage("unreachable");
        assertThat(third.isDone()).isTrue();
        assertThat(third.failure()).isNull();
    }

    // ---- Barging

    @Test
    @DisplayName("counts the tries without a barging claim while they are queued")
    void idleTries() {
        Request trying = request(AcquireTerms.TRY);
        queue.append(first);
        assertThat(queue.hasIdleTries()).isFalse();
        queue.append(trying);
        assertThat(queue.hasIdleTries()).isTrue();

        RequestQueue.setBargingClaim(first, claim());
        RequestQueue.setBargingClaim(trying, claim());
        assertThat(queue.hasIdleTries()).isFalse();
        RequestQueue.setBargingClaim(trying, claim());
        assertThat(queue.hasIdleTries()).isFalse();
        RequestQueue.setBargingClaim(trying, null);
        assertThat(queue.hasIdleTries()).isTrue();

        queue.remove(trying);
        assertThat(queue.hasIdleTries()).isFalse();
        RequestQueue.setBargingClaim(trying, claim());
        RequestQueue.setBargingClaim(trying, null);
        assertThat(queue.hasIdleTries()).isFalse();
    }

    @Test
    @DisplayName("gives each newcomer behind the head once, oldest first, and all again under the next session")
    void takesNewcomers() {
        appendAll();
        assertThat(newcomers()).containsExactly(second, third);
        assertThat(newcomers()).isEmpty();

        Request fourth = request(AcquireTerms.FOREVER);
        queue.append(fourth);
        assertThat(newcomers()).containsExactly(fourth);

        queue.renewNewcomers();
        assertThat(newcomers()).containsExactly(second, third, fourth);
    }

    @Test
    @DisplayName("gives those that left with a barging claim once, and is kept until then")
    void left() {
        appendAll();
        RequestQueue.setBargingClaim(second, claim());
        RequestQueue.setBargingClaim(third, claim());
        assertThat(queue.takeLeft()).isEmpty();
        queue.remove(first);
        queue.remove(second);
        queue.remove(third);

        assertThat(queue.isEmpty()).isTrue();
        assertThat(queue.isDisposable()).isFalse();
        assertThat(queue.takeLeft()).containsExactly(second, third);
        assertThat(queue.takeLeft()).isEmpty();
        assertThat(queue.isDisposable()).isTrue();
        queue.append(first);
        assertThat(queue.isDisposable()).isFalse();
    }

    // ---- Overdue requests

    @Test
    @DisplayName("ends overdue requests that had an answer, in order, and visits none behind one that stays")
    void overdue() {
        appendAll();
        Request fourth = request(AcquireTerms.FOREVER);
        queue.append(fourth);
        queue.endOverdue(request -> false, deferred);
        for (Request request : List.of(first, second, third, fourth)) {
            queue.noteOverdue(request, Duration.ofSeconds(1));
        }
        queue.remove(second);
        List<Request> asked = new ArrayList<>();

        queue.endOverdue(
                request -> {
                    asked.add(request);
                    return request == third;
                },
                deferred);

        assertThat(asked).containsExactly(first, third);
        assertThat(first.isDone()).isTrue();
        assertThat(first.wasOverdue()).isTrue();
        assertThat(third.isDone()).isFalse();
        assertThat(all()).containsExactly(third, fourth);

        queue.endOverdue(request -> false, deferred);
        assertThat(queue.isEmpty()).isTrue();
    }
}
