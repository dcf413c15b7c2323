package dev.holdfast.store.register.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import org.junit.jupiter.api.Test;

/** How large states are, as the manuals of etcd and ZooKeeper say. */
class StateSizeTest {

    private static final ResourceName NAME = new ResourceName("crowd");
    private static final String LABEL = "app@worker-7f8c9d pid 1";
    private static final int PROCESSES = 2_000;

    private static int bytes(int claimsEach) {
        ResourceState state = new ResourceState(NAME);
        state.declared = ResourceSpec.MUTEX;
        state.capacity = 1;
        for (int i = 0; i < PROCESSES; i++) {
            SessionEntry session = new SessionEntry(new SessionId("%016x".formatted(i)), LABEL, 30_000_000);
            for (int claim = 1; claim <= claimsEach; claim++) {
                ClaimRef ref = new ClaimRef(NAME, session.id(), 1_000L * claim);
                state.queue.put(ref, new ClaimEntry(ref, session, Lease.SESSION, 1, 32));
            }
        }
        return StateCodec.encode(state).length;
    }

    @Test
    void processHasThirtyBytesAndItsLabel() {
        assertThat(bytes(1) / PROCESSES).isBetween(25 + LABEL.length(), 30 + LABEL.length());
    }

    @Test
    void furtherClaimOfAProcessHasEightBytes() {
        assertThat((bytes(11) - bytes(1)) / PROCESSES / 10).isBetween(6, 8);
    }
}
