package dev.holdfast.store.register.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.RegisterAdapter;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A session of another client is watched")
class WatchesTest {

    private static final SessionId A = new SessionId("a");
    private static final SessionId B = new SessionId("b");

    /** What the server was asked to watch. */
    private final List<Object> requests = new ArrayList<>();

    private final Watches watches = new Watches((RegisterAdapter) Proxy.newProxyInstance(
            RegisterAdapter.class.getClassLoader(),
            new Class<?>[] {RegisterAdapter.class},
            (proxy, method, arguments) -> {
                assertThat(method.getName()).isEqualTo("watchSessions");
                requests.add(arguments[0]);
                return null;
            }));

    @Test
    @DisplayName("once, until the last lane that needs it no longer does")
    void byTwoLanes() {
        watches.replace(Set.of(), Set.of(A, B));
        watches.replace(Set.of(), Set.of(A));
        assertThat(requests).containsExactly(Set.of(A, B));
        watches.replace(Set.of(A, B), Set.of(B));
        assertThat(watches.isWatched(A)).isTrue();
        assertThat(requests).hasSize(1);
        watches.replace(Set.of(A), Set.of());
        assertThat(watches.isWatched(A)).isFalse();
        assertThat(watches.isWatched(B)).isTrue();
        assertThat(requests).containsExactly(Set.of(A, B), Set.of(B));
    }

    @Test
    @DisplayName("again if a lane needs it again")
    void again() {
        watches.replace(Set.of(), Set.of(A));
        watches.replace(Set.of(A), Set.of(B));
        watches.replace(Set.of(B), Set.of(A));
        assertThat(requests).containsExactly(Set.of(A), Set.of(B), Set.of(A));
    }
}
