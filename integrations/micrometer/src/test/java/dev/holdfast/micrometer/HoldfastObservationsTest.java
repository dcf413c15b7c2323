package dev.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener.AcquireRequest;
import dev.holdfast.LockLostException;
import dev.holdfast.micrometer.LockObservation.HighCardinality;
import dev.holdfast.micrometer.LockObservation.LowCardinality;
import dev.holdfast.spi.Kind;
import dev.holdfast.test.TestStore;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The observations of a client")
class HoldfastObservationsTest {

    /** Keeps what has ended. */
    private static final class Recorder implements ObservationHandler<LockObservationContext> {
        final List<LockObservationContext> ended = new CopyOnWriteArrayList<>();
        final List<String> events = new CopyOnWriteArrayList<>();

        @Override
        public void onStop(LockObservationContext context) {
            ended.add(context);
        }

        @Override
        public void onEvent(Observation.Event event, LockObservationContext context) {
            events.add(event.getName());
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof LockObservationContext;
        }

        List<String> names() {
            return ended.stream().map(Observation.Context::getName).toList();
        }
    }

    private final Recorder recorder = new Recorder();
    private final ObservationRegistry registry = ObservationRegistry.create();
    private final TestStore store = TestStore.create(builder -> builder.listener(HoldfastObservations.of(registry)));

    HoldfastObservationsTest() {
        registry.observationConfig().observationHandler(recorder);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static String value(KeyValues values, KeyName key) {
        return values.stream()
                .filter(value -> value.getKey().equals(key.asString()))
                .map(KeyValue::getValue)
                .findAny()
                .orElseThrow();
    }

    @Test
    @DisplayName("are a wait and a hold for each grant, with the documented keys, in the trace that asked")
    void waitAndHold() throws Exception {
        Observation request = Observation.start("request", registry);
        long token;
        try (Observation.Scope scope = request.openScope()) {
            assertThat(scope.isNoop()).isFalse();
            try (Hold hold = store.client().lock("ledger").acquire()) {
                token = hold.fencingToken();
            }
        }
        request.stop();
        assertThat(recorder.names()).containsExactly("holdfast.lock.wait", "holdfast.lock.hold");
        assertThat(recorder.ended).allSatisfy(context -> {
            assertThat(context.getParentObservation()).isSameAs(request);
            KeyValues low = context.getLowCardinalityKeyValues();
            KeyValues high = context.getHighCardinalityKeyValues();
            assertThat(low.stream().map(KeyValue::getKey))
                    .containsExactlyInAnyOrderElementsOf(documented(LowCardinality.values()));
            assertThat(high.stream().map(KeyValue::getKey))
                    .containsExactlyInAnyOrderElementsOf(documented(HighCardinality.values()));
            assertThat(value(low, LowCardinality.KIND)).isEqualTo("mutex");
            assertThat(value(high, HighCardinality.LOCK)).isEqualTo("ledger");
            assertThat(value(high, HighCardinality.TOKEN)).isEqualTo(Long.toString(token));
        });
        assertThat(recorder.ended.get(0).getContextualName()).isEqualTo("wait ledger");
        assertThat(value(recorder.ended.get(0).getLowCardinalityKeyValues(), LowCardinality.OUTCOME))
                .isEqualTo("granted");
        assertThat(value(recorder.ended.get(1).getLowCardinalityKeyValues(), LowCardinality.OUTCOME))
                .isEqualTo("released");
    }

    private static List<String> documented(KeyName[] keys) {
        return Arrays.stream(keys).map(KeyName::asString).toList();
    }

    @Test
    @DisplayName("of a stage have the parent of the thread that asked, though another completes it")
    void asynchronous() throws Exception {
        Hold other = store.take("ledger");
        Observation request = Observation.start("request", registry);
        CompletableFuture<Hold> stage;
        try (Observation.Scope scope = request.openScope()) {
            assertThat(scope.isNoop()).isFalse();
            stage = store.client().lock("ledger").acquireAsync().toCompletableFuture();
        }
        other.close();
        stage.get(60, TimeUnit.SECONDS).close();
        request.stop();
        // Its grant may be told after the release, by the thread that completes the stage, and the release after that.
        await().atMost(60, TimeUnit.SECONDS)
                .untilAsserted(
                        () -> assertThat(recorder.names()).containsExactly("holdfast.lock.wait", "holdfast.lock.hold"));
        assertThat(recorder.ended)
                .allSatisfy(
                        context -> assertThat(context.getParentObservation()).isSameAs(request));
    }

    @Test
    @DisplayName("of a wait in vain end with its outcome and without a token")
    void inVain() {
        Hold other = store.take("ledger");
        assertThat(store.client().lock("ledger").tryAcquire()).isEmpty();
        other.close();
        assertThat(recorder.names()).containsExactly("holdfast.lock.wait");
        assertThat(value(recorder.ended.get(0).getLowCardinalityKeyValues(), LowCardinality.OUTCOME))
                .isEqualTo("taken");
        assertThat(value(recorder.ended.get(0).getHighCardinalityKeyValues(), HighCardinality.TOKEN))
                .isEqualTo("none");
    }

    @Test
    @DisplayName("of a lost hold have the event and the error")
    void lost() throws Exception {
        Hold hold = store.client().lock("ledger").acquire();
        store.loseLock("ledger");
        hold.releaseAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
        assertThat(recorder.events).containsExactly("holdfast.lost");
        LockObservationContext context = recorder.ended.get(1);
        assertThat(context.getError()).isInstanceOf(LockLostException.class);
        assertThat(value(context.getLowCardinalityKeyValues(), LowCardinality.OUTCOME))
                .isEqualTo("lost");
    }

    @Test
    @DisplayName("are named by a convention of the program's")
    void convention() throws Exception {
        class ByName extends DefaultLockObservationConvention.Wait {
            @Override
            public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
                return super.getLowCardinalityKeyValues(context)
                        .and("lock.family", context.request().name().replaceAll("/.*", ""));
            }
        }
        HoldfastObservations own = HoldfastObservations.builder(registry)
                .waitConvention(new ByName())
                .build();
        try (Holdfast client = store.builder().listener(own).build()) {
            client.lock("user/1").acquire().close();
        }
        assertThat(recorder.ended.get(0).getLowCardinalityKeyValues().stream().map(KeyValue::toString))
                .anySatisfy(text -> assertThat(text).contains("lock.family", "user"));
    }

    @Test
    @DisplayName("are none, and no listener is made, without a registry that observes")
    void noop() {
        AcquireRequest request = new AcquireRequest("ledger", Kind.MUTEX, 1, "memory", AcquireRequest.Call.TRY);
        assertThat(HoldfastObservations.of(ObservationRegistry.NOOP).onRequested(request))
                .isNull();
        assertThat(HoldfastObservations.of(ObservationRegistry.create()).onRequested(request))
                .isNull();
    }
}
