package dev.holdfast.store.register.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A record")
class StateCodecTest {

    private static final ResourceName NAME = new ResourceName("ledger");
    private static final SessionEntry SESSION = new SessionEntry(new SessionId("s1"), "alice", 30_000_000);
    private static final long NOW = 1_790_000_000_000_000L;

    /** What an earlier version takes for the end of a lease, in the year 3168. */
    private static final long FAR = (1L << 55) + NOW;

    private final ResourceState state = new ResourceState(NAME);

    StateCodecTest() {
        state.declared = ResourceSpec.MUTEX;
        state.capacity = 1;
        state.lastToken = 7;
    }

    private static ClaimEntry claim(long number) {
        return new ClaimEntry(new ClaimRef(NAME, SESSION.id(), number), SESSION, Lease.SESSION, 1, 1);
    }

    private ClaimEntry reread(ClaimEntry claim) {
        ClaimEntry read = StateCodec.decode(NAME, StateCodec.encode(state)).claim(claim.ref);
        assertThat(read).isNotNull();
        return read;
    }

    @Test
    @DisplayName("has the time since which a claim waits, and none for one that an earlier version queued")
    void waiting() {
        ClaimEntry since = claim(1);
        since.queuedAt = NOW;
        ClaimEntry unknown = claim(2);
        state.queue.put(since.ref, since);
        state.queue.put(unknown.ref, unknown);
        assertThat(reread(since).queuedAt).isEqualTo(NOW);
        assertThat(reread(since).endsAt).isZero();
        assertThat(reread(unknown).queuedAt).isZero();
    }

    @Test
    @DisplayName("in which an earlier version has granted such a claim has no end of a lease that has none")
    void grantedByAnEarlierVersion() {
        ClaimEntry granted = claim(1);
        granted.first = 7;
        granted.last = 7;
        granted.endsAt = FAR;
        state.grants.put(granted.ref, granted);
        assertThat(reread(granted).endsAt).isZero();
        assertThat(reread(granted).queuedAt).isZero();
        granted.endsAt = NOW;
        assertThat(reread(granted).endsAt).isEqualTo(NOW);
    }
}
