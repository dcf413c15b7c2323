package dev.holdfast.testkit.sim;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.ServerTime;
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
            return result instanceof WriteResult.Refused refused && refused.isConflict()
                    ? server.write(with(write, refused.present().version(), write.writers()))
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
        RecordVersion altered(RecordVersion version) {
            return new RecordVersion(version.incarnation() == 0 ? 0 : 1, version.change());
        }

        @Override
        WriteResult write(MemoryRegister server, ConditionalWrite write) {
            RecordVersion present = server.read(write.resource()).version();
            boolean isSame = write.expected().change() == present.change();
            return server.write(isSame ? with(write, present, write.writers()) : write);
        }
    },

    /** Delivers mail without the incarnation of the record: the tokens in it are relative to nothing. */
    MAIL_HAS_NO_BASE {
        @Override
        RecordVersion mailed(RecordVersion record) {
            return new RecordVersion(0, record.change());
        }
    },

    /** Removes the index entries that a client wrote, those of others too, when it has ended. */
    INDEX_ENDS_WITH_ITS_WRITER {
        @Override
        boolean entriesEndWithWriter() {
            return true;
        }
    },

    /** Keeps a session from the keep-alive before, for a follower has not reported the newest one. */
    RENEWED_TOO_LATE {
        @Override
        long renewedFrom(long sent, long before) {
            return before;
        }
    },

    /** Keeps sessions for a quarter of their ttl after a new connection, and leaves them to their client. */
    SHORTENED_IN_SILENCE {
        @Override
        boolean endsShortened() {
            return false;
        }
    },

    /** Takes the time of an answer for that at which it arrived, so that its clock is behind. */
    LEASES_BEGIN_EARLY {
        @Override
        ServerTime altered(ServerTime time) {
            return ServerTime.exactly(time.earliestMicros());
        }
    },

    /** Takes the time of an answer for that at which the request was sent, so that its clock is ahead. */
    LEASES_END_EARLY {
        @Override
        ServerTime altered(ServerTime time) {
            return ServerTime.exactly(time.latestMicros());
        }
    };

    WriteResult write(MemoryRegister server, ConditionalWrite write) {
        return server.write(write);
    }

    /** The register whose mutant it is. */
    public RegisterTraits.Clock clock() {
        return this == LEASES_BEGIN_EARLY || this == LEASES_END_EARLY
                ? RegisterTraits.Clock.WALL
                : RegisterTraits.Clock.REVISIONS;
    }

    RecordVersion altered(RecordVersion version) {
        return version;
    }

    /** The version that mail is delivered with. */
    RecordVersion mailed(RecordVersion record) {
        return altered(record);
    }

    /** What a client believes of the server's clock. */
    ServerTime altered(ServerTime time) {
        return time;
    }

    /**
     * From when on a session lasts for its ttl.
     *
     * @param sent when its keep-alive was sent
     * @param before when the one before it was sent
     */
    long renewedFrom(long sent, long before) {
        return sent;
    }

    /** Whether an index entry is its writer's, and not that of the session whose claim it names. */
    boolean entriesEndWithWriter() {
        return false;
    }

    /** Whether a client ends its sessions when the server keeps them for a shorter time. */
    boolean endsShortened() {
        return true;
    }

    RegisterRecord altered(RegisterRecord record) {
        return new RegisterRecord(record.state(), altered(record.version()), record.floor());
    }

    WriteResult altered(WriteResult result) {
        if (result instanceof WriteResult.Written written) {
            return new WriteResult.Written(altered(written.version()));
        }
        return result instanceof WriteResult.Refused refused
                ? new WriteResult.Refused(altered(refused.present()), refused.gone(), refused.raised())
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
