package dev.holdfast.store.register.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.WriteResult;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class IntakeWaitTest {

    private static final ResourceName NAME = new ResourceName("passed around");

    private static final byte[] MAILED = {1};

    private static final byte[] PRESENT = {2};

    @AutoClose
    private final SystemTime time = new SystemTime("intake-wait-test");

    private final MemoryRegister server = new MemoryRegister(RegisterTraits.Clock.REVISIONS, () -> 1);
    private final Context context = Context.of(server.connect(), time, new Lanes(), new ContentionRules());
    private final Lane lane = new Lane(context, NAME);
    private final IntakeWait intake = new IntakeWait(context, lane);

    private RecordVersion write(byte[] state) {
        WriteResult result = server.write(new ConditionalWrite(
                NAME, server.read(NAME).version(), Optional.of(state), 0, Map.of(), Map.of(), List.of(), List.of()));
        return ((WriteResult.Written) result).version();
    }

    private RegisterRecord read(IntakeWait.Freshness freshness) {
        lane.written(write(MAILED), Optional.of(MAILED));
        var unused = write(PRESENT);
        return intake.read(freshness).toCompletableFuture().join();
    }

    @Test
    void mailSavesARead() {
        assertThat(read(IntakeWait.Freshness.MAILED).state()).hasValue(MAILED);
    }

    /** The mail may be older than the question: a grant in it may have been released by force before that. */
    @Test
    void mailDoesNotAnswerAPoll() {
        assertThat(read(IntakeWait.Freshness.PRESENT).state()).hasValue(PRESENT);
    }
}
