package dev.holdfast.store.zookeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When a keep-alive counts. Times are in seconds; a follower reports within two. */
class LeaderContactTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    private long monotonic = at(100);

    /** In milliseconds. */
    private long wall;

    /** For how long the machine has slept. */
    private double slept;

    private final LeaderContact contact = new LeaderContact(Optional.empty(), () -> monotonic, () -> wall);

    @BeforeEach
    void connect() {
        contact.sessionOpening(now(100));
        contact.connected(Duration.ofSeconds(34));
    }

    private static long at(double seconds) {
        return (long) (seconds * 1e9) + Long.MAX_VALUE - 105_000_000_000L; // the clock turns over at 105
    }

    /** Moves the clocks to a time of the monotonic one. */
    private long now(double seconds) {
        wall = 1_750_000_000_000L + (long) ((seconds + slept) * 1e3);
        monotonic = at(seconds);
        return monotonic;
    }

    private void answered(double sent, double answered) {
        contact.answered(at(sent), now(answered));
    }

    private boolean counts(double from, double written) {
        return contact.outlasts(at(from), TTL, now(written));
    }

    @Test
    void leaderHasHeardOfTheSessionThatItMade() {
        assertThat(counts(104, 104)).isTrue();
        assertThat(counts(104.1, 104.1)).isFalse();
    }

    @Test
    void writeProvesThatPacketsBeforeItWereReported() {
        answered(110, 110.5);
        assertThat(counts(112, 112)).as("it may not be reported yet").isFalse();
        assertThat(counts(112, 112.5)).isTrue();
        assertThat(counts(114, 114)).isTrue();
        assertThat(counts(114.1, 114.1)).as("the packet is too old").isFalse();
    }

    @Test
    void writeThatIsRepeatedCountsFromTheFirst() {
        assertThat(counts(120, 120)).isFalse();
        answered(120, 120.1);
        assertThat(counts(120, 122.1)).isTrue();
    }

    @Test
    void packetsThroughAnotherConnectionProveNothing() {
        answered(110, 110.5);
        contact.connected(Duration.ofSeconds(34));
        assertThat(counts(113, 113)).isFalse();
    }

    @Test
    void whatWasReportedBeforeANewConnectionStays() {
        answered(110, 110.5);
        assertThat(counts(113, 113)).isTrue();
        contact.connected(Duration.ofSeconds(34));
        assertThat(counts(114, 114)).isTrue();
    }

    @Test
    void shorterTimeOutLeavesLess() {
        contact.connected(Duration.ofSeconds(31));
        assertThat(counts(101, 101)).isTrue();
        assertThat(counts(101.1, 101.1)).isFalse();
        contact.connected(Duration.ofSeconds(20));
        answered(110, 110);
        assertThat(counts(112, 112)).isFalse();
    }

    @Test
    void manyPacketsAreNotForgottenBeforeTheyAreReported() {
        for (double time = 110; time < 140; time += 0.001) {
            answered(time, time);
        }
        assertThat(counts(140, 140)).isTrue();
        assertThat(contact.outlasts(at(140), Duration.ofSeconds(34).minusMillis(2_250), now(140)))
                .as("one of each quarter of a second is known")
                .isTrue();
    }

    @Test
    void whatWasSentBeforeASleepOfTheMachineIsTooOld() {
        answered(110, 110.5);
        assertThat(counts(113, 113)).isTrue();
        slept = 20;
        assertThat(counts(113.5, 113.5)).isFalse();
        answered(113.4, 113.6);
        assertThat(counts(116, 116)).as("it was sent before the sleep").isFalse();
        answered(116, 116.1);
        assertThat(counts(118.2, 118.2)).isTrue();
    }

    @Test
    void clockThatIsSetBackChangesNothing() {
        answered(110, 110.5);
        slept = -3_600;
        assertThat(counts(113, 113)).isTrue();
        slept = -3_599;
        assertThat(counts(113.5, 113.5)).as("it may have slept for a second").isFalse();
    }

    @Test
    void longestTtlLeavesRoomForTheSilenceAndTheReport() {
        assertThat(contact.longestTtl()).isEqualTo(Duration.ofMillis(30_050));
        contact.connected(Duration.ofSeconds(4));
        assertThat(contact.reportDelay()).as("two ticks at most").isEqualTo(Duration.ofSeconds(1));
        LeaderContact slow = new LeaderContact(Optional.of(Duration.ofSeconds(6)), () -> monotonic, () -> wall);
        slow.connected(Duration.ofSeconds(60));
        assertThat(slow.longestTtl()).isEqualTo(Duration.ofMillis(50_250));
    }
}
