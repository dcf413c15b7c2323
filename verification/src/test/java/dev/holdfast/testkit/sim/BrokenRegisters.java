package dev.holdfast.testkit.sim;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.WriteResult;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.util.HashMap;
import java.util.Map;

/** Servers of registers that keep all promises but one, and one that keeps them all. */
public enum BrokenRegisters {
    /** Breaks nothing. */
    SOUND,

    /** Takes a write whose record has changed meanwhile. */
    VERSION_UNCHECKED {
        @Override
        WriteResult write(MemoryRegister server, ConditionalWrite write) {
            WriteResult result = server.write(write);
            return result instanceof WriteResult.Conflict conflict
                    ? server.write(with(write, conflict.present().version(), write.writers()))
                    : result;
        }
    },

    /** Takes a write under an epoch that was raised since it was sent. */
    EPOCH_UNCHECKED {
        @Override
        WriteResult write(MemoryRegister server, ConditionalWrite write) {
            Map<SessionId, Long> writers = new HashMap<>();
            write.writers().keySet().forEach(id -> writers.put(id, Long.MAX_VALUE));
            return server.write(with(write, write.expected(), writers));
        }
    },

    /** Numbers the incarnations of a record from the same number each time. */
    TOKENS_BEGIN_AGAIN {
        @Override
        RecordVersion told(RecordVersion version) {
            return new RecordVersion(version.incarnation() == 0 ? 0 : 1, version.change());
        }

        @Override
        WriteResult write(MemoryRegister server, ConditionalWrite write) {
            RecordVersion present = server.read(write.resource()).version();
            boolean isSame = write.expected().change() == present.change();
            return server.write(isSame ? with(write, present, write.writers()) : write);
        }
    };

    WriteResult write(MemoryRegister server, ConditionalWrite write) {
        return server.write(write);
    }

    RecordVersion told(RecordVersion version) {
        return version;
    }

    RegisterRecord told(RegisterRecord record) {
        return new RegisterRecord(record.state(), told(record.version()), record.floor());
    }

    WriteResult told(WriteResult result) {
        if (result instanceof WriteResult.Written written) {
            return new WriteResult.Written(told(written.version()));
        }
        return result instanceof WriteResult.Conflict conflict
                ? new WriteResult.Conflict(told(conflict.present()))
                : result;
    }

    private static ConditionalWrite with(ConditionalWrite write, RecordVersion expected, Map<SessionId, Long> writers) {
        return new ConditionalWrite(
                write.resource(),
                expected,
                write.state(),
                write.floor(),
                writers,
                write.mail(),
                write.index(),
                write.arrivals());
    }
}
