package dev.holdfast.store.register.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A record")
class StateCodecTest {

    private static final ResourceName NAME = new ResourceName("ledger");
    private static final SessionEntry SESSION = new SessionEntry(new SessionId("s1"), "alice", 30_000_000);
    private static final long NOW = 1_790_000_000_000_000L;

    /** What an earlier version takes for the end of a lease, in the year 3168. */
    private static final long FAR = (1L << 55) + NOW;

    /** Written by the version before waiting times: alice holds, and bob waits. */
    private static final String EARLIER =
            "68660101076d0001010202733105616c6963658087a70e02733203626f6280dac409" + "01010000010100000001020101";

    /** The same with the time since which bob waits. That version has read it, and written it again unchanged. */
    private static final String PRESENT = "68660101076d0001010202733105616c6963658087a70e02733203626f6280dac409"
            + "0101000001010000100102010180c097d1edff9643";

    /** Written by that version when it had read this and granted bob's claim. */
    private static final String GRANTED_LATER =
            "68660101086d0001010102733203626f6280dac409010010000201000080c097d1edff9643";

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

    @Test
    @DisplayName("of an earlier version is read, and that version reads the present ones")
    void earlierVersion() {
        ResourceState read = decode(EARLIER);
        ClaimEntry bob = read.queue.values().iterator().next();
        assertThat(bob.session.label()).isEqualTo("bob");
        assertThat(bob.queuedAt).isZero();
        assertThat(encode(read)).isEqualTo(EARLIER);
        bob.queuedAt = NOW;
        assertThat(encode(read)).isEqualTo(PRESENT);
        ResourceState later = decode(GRANTED_LATER);
        assertThat(later.queue).isEmpty();
        assertThat(later.grants.values()).singleElement().satisfies(grant -> {
            assertThat(grant.session.label()).isEqualTo("bob");
            assertThat(grant.first).isEqualTo(8);
            assertThat(grant.endsAt).isZero();
        });
    }

    @Test
    @DisplayName("that is cut off, or has something behind it, is refused as damaged")
    void cutOff() {
        byte[] whole = StateCodec.encode(full());
        for (int length = 0; length < whole.length; length++) {
            refused(Arrays.copyOf(whole, length));
        }
        refused(Arrays.copyOf(whole, whole.length + 1));
    }

    @Test
    @DisplayName("in which one octet is a different one is read, or refused as damaged")
    void oneOctetIsDifferent() {
        byte[] whole = StateCodec.encode(full());
        for (int at = 0; at < whole.length; at++) {
            for (int octet = 0; octet < 256; octet++) {
                byte[] damaged = whole.clone();
                damaged[at] = (byte) octet;
                readOrRefused(damaged);
            }
        }
    }

    @Test
    @DisplayName("in which the greatest numbers stand in place of some octets is read, or refused as damaged")
    void greatestNumbers() {
        String greatest = "ffffffffffffffff7f";
        String whole = encode(full());
        for (int from = 0; from < whole.length(); from += 2) {
            for (int to = from + 2; to <= Math.min(from + 14, whole.length()); to += 2) {
                for (int count = 1; count <= 2; count++) {
                    readOrRefused(HexFormat.of()
                            .parseHex(whole.substring(0, from) + greatest.repeat(count) + whole.substring(to)));
                }
            }
        }
    }

    private static void readOrRefused(byte[] bytes) {
        try {
            assertThat(StateCodec.decode(NAME, bytes).parties()).isNotNegative();
        } catch (StoreException e) {
            assertThat(e.reason()).isEqualTo(StoreException.Reason.CORRUPT);
        }
    }

    private static void refused(byte[] bytes) {
        assertThatThrownBy(() -> StateCodec.decode(NAME, bytes))
                .as("%s", HexFormat.of().formatHex(bytes))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.reason()).isEqualTo(StoreException.Reason.CORRUPT));
    }

    /** A state with a value in each field. */
    private ResourceState full() {
        LatchState latch = new LatchState();
        latch.begin(3, 300);
        latch.countDown("id", 1);
        state.latch = latch;
        ClaimEntry held = new ClaimEntry(
                new ClaimRef(NAME, SESSION.id(), 1), SESSION, Lease.bounded(Duration.ofMillis(12_345)), 1, 1);
        held.first = 5;
        held.last = 7;
        held.pickedUp = true;
        held.extension = 2;
        held.endsAt = NOW;
        held.leaseId = new SessionId("lease");
        state.grants.put(held.ref, held);
        ClaimEntry waiting = claim(2);
        waiting.queuedAt = NOW;
        state.queue.put(waiting.ref, waiting);
        return state;
    }

    private static ResourceState decode(String hex) {
        return StateCodec.decode(NAME, HexFormat.of().parseHex(hex));
    }

    private static String encode(ResourceState state) {
        return HexFormat.of().formatHex(StateCodec.encode(state));
    }
}
