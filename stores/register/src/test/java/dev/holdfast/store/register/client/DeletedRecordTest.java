package dev.holdfast.store.register.client;

import static dev.holdfast.store.register.Commands.answer;
import static dev.holdfast.store.register.Commands.mutex;
import static dev.holdfast.store.register.Commands.open;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.RegisterTraits.Clock;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Records that somebody deletes by hand while they are in use. */
class DeletedRecordTest {

    private static final int LOCKS = 10;

    /** At most this many audits check each lock once. */
    private static final int AUDITS = 3;

    private final SystemTime timers = new SystemTime("deleted-record-timer");

    @AfterEach
    void close() {
        timers.close();
    }

    private static List<ClaimRef> held(RegisterStore store, SessionId session) {
        return ((Reply.Audited) answer(store, new Command.Audit(session, Optional.empty(), 1_000))).granted();
    }

    @ParameterizedTest
    @EnumSource
    void auditsNoLongerListClaimsOfDeletedRecords(Clock clock) {
        MemoryRegister server = new MemoryRegister(clock, () -> 1_750_000_000_000_000L);
        try (RegisterStore store = RegisterStore.over(server.connect(), timers)) {
            SessionId session = open(store, Duration.ofMinutes(1));
            List<ClaimRef> claims = new ArrayList<>();
            for (int i = 0; i < LOCKS; i++) {
                ClaimRef claim = new ClaimRef(new ResourceName("lock " + i), session, i + 1);
                claims.add(claim);
                assertThat(answer(store, mutex(claim, Waiting.TRY))).isInstanceOf(Reply.Granted.class);
            }
            server.delete(claims.get(7).resource());
            for (int i = 0; i < AUDITS; i++) {
                assertThat(held(store, session)).containsAll(claims.subList(0, 7));
            }
            claims.remove(7);
            long before = server.requests();
            for (int i = 0; i < AUDITS; i++) {
                assertThat(held(store, session)).containsExactlyInAnyOrderElementsOf(claims);
            }
            assertThat(server.requests() - before).isLessThanOrEqualTo(AUDITS * 5);
        }
    }
}
