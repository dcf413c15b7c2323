package dev.holdfast.store.register.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.SessionRecord;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What a client knows of sessions:")
class SessionsTest {

    private static final SessionId OWN = new SessionId("own");
    private static final SessionId OTHER = new SessionId("other");
    private static final Duration TTL = Duration.ofSeconds(30);

    private final Sessions sessions = new Sessions();

    SessionsTest() {
        sessions.opened(new OpenedSession(OWN, TTL), "label");
    }

    @Test
    @DisplayName("an epoch only rises, and one of another client's session is not kept")
    void epochs() {
        sessions.epoch(OWN, 3);
        sessions.epoch(OWN, 2);
        sessions.epoch(OTHER, 5);
        assertThat(sessions.session(OWN)).isEqualTo(new SessionRecord(3, "label", TTL));
        assertThat(sessions.epoch(OWN)).isEqualTo(3);
        assertThat(sessions.epoch(OTHER)).isZero();
        assertThat(sessions.session(OTHER)).isNull();
        assertThat(sessions.isOwn(OTHER)).isFalse();
    }

    @Test
    @DisplayName("an ended session is its own no more, which only the first notice reports")
    void ended() {
        assertThat(sessions.isOwn(OWN)).isTrue();
        assertThat(sessions.isGone(OWN)).isFalse();
        assertThat(sessions.ended(OTHER)).isFalse();
        assertThat(sessions.ended(OWN)).isTrue();
        assertThat(sessions.ended(OWN)).isFalse();
        assertThat(sessions.isOwn(OWN)).isFalse();
        assertThat(sessions.session(OWN)).isNull();
        assertThat(sessions.isGone(OWN)).isTrue();
        assertThat(sessions.isGone(OTHER)).isTrue();
    }

    @Test
    @DisplayName("of very many ended sessions, the newest")
    void newestOfVeryMany() {
        int most = 16_384;
        for (int i = 0; i <= most; i++) {
            var unused = sessions.ended(new SessionId("s" + i));
        }
        assertThat(sessions.isGone(new SessionId("s0"))).isFalse();
        assertThat(sessions.isGone(new SessionId("s1"))).isTrue();
        assertThat(sessions.isGone(new SessionId("s" + most))).isTrue();
    }

    @Test
    @DisplayName("the remaining time shrinks as time passes, and is unknown after a quarter of it")
    void remainingTime() {
        sessions.left(OTHER, Duration.ofNanos(40), 100);
        assertThat(sessions.left(OTHER, 109)).contains(Duration.ofNanos(31));
        assertThat(sessions.left(OTHER, 110)).isEmpty();
        sessions.left(OTHER, Duration.ofNanos(80), 110);
        assertThat(sessions.left(OTHER, 120)).contains(Duration.ofNanos(70));
        assertThat(sessions.left(OWN, 120)).isEmpty();
        assertThat(sessions.ended(OTHER)).isFalse();
        assertThat(sessions.left(OTHER, 120)).isEmpty();
    }
}
