package dev.holdfast.engine.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The listener of an acquisition")
class AcquisitionObserverTest {

    private static final Loss LOSS = new Loss("report", "memory", 7, Loss.Cause.REMOVED);

    private final List<String> told = new ArrayList<>();
    private final AcquisitionObserver observer = new AcquisitionObserver(new AcquisitionListener() {
        @Override
        public void onGranted(long token, GrantSource source) {
            told.add("granted " + token);
            duringGrant.run();
        }

        @Override
        public void onLost(Loss loss) {
            told.add("lost");
        }

        @Override
        public void onReleased(ReleaseOutcome outcome) {
            told.add("released " + outcome);
        }
    });

    private Runnable duringGrant = () -> {};

    @Test
    @DisplayName("is told of the events in their order")
    void inOrder() {
        observer.granted(7);
        observer.lost(LOSS);
        observer.released(ReleaseOutcome.LOST);
        assertThat(told).containsExactly("granted 7", "lost", "released LOST");
    }

    @Test
    @DisplayName("is told of a hold that was lost and closed before its grant was told, after that")
    void closedBeforeGrantWasTold() {
        observer.lost(LOSS);
        observer.released(ReleaseOutcome.LOST);
        assertThat(told).isEmpty();
        observer.granted(7);
        assertThat(told).containsExactly("granted 7", "lost", "released LOST");
    }

    @Test
    @DisplayName("is told of a hold that is closed while its grant is told, after that")
    void closedWhileGrantIsTold() {
        duringGrant = () -> observer.released(ReleaseOutcome.RELEASED);
        observer.granted(7);
        assertThat(told).containsExactly("granted 7", "released RELEASED");
    }

    @Test
    @DisplayName("hears nothing of a grant that came after the request was cancelled")
    void cancelled() {
        observer.released(ReleaseOutcome.RELEASED);
        assertThat(told).isEmpty();
    }
}
