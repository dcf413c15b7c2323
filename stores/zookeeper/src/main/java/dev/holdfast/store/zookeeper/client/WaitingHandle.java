package dev.holdfast.store.zookeeper.client;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.jute.InputArchive;
import org.apache.jute.OutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.MultiResponse;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.proto.RequestHeader;

/**
 * A handle whose callers can wait for a transaction themselves. The thread that reads answers wakes them directly,
 * without the event thread, as with the synchronous methods of {@link ZooKeeper}; but an interrupt doesn't lose the
 * answer, and the wait has a limit.
 *
 * <p><b>Thread-safety:</b> safe.
 */
@SuppressWarnings("try") // that close may be interrupted
class WaitingHandle extends ZooKeeper {

    /** Creates a handle for servers without a chroot. */
    WaitingHandle(String servers, int sessionTimeoutMillis, Watcher watcher, ZKClientConfig config) throws IOException {
        super(servers, sessionTimeoutMillis, watcher, config);
    }

    /**
     * The answer to a transaction.
     *
     * @param code of the first operation that failed, or of the connection; OK if all succeeded
     */
    record Answer(int code, List<OpResult> results) {}

    /** The results, and whether they have arrived. */
    private static final class Results implements Record {

        private final MultiResponse all = new MultiResponse();
        private volatile boolean haveArrived;

        @Override
        public void deserialize(InputArchive archive, String tag) throws IOException {
            all.deserialize(archive, tag);
            haveArrived = true;
        }

        @Override
        public void serialize(OutputArchive archive, String tag) throws IOException {
            all.serialize(archive, tag);
        }

        int code() {
            for (OpResult each : all) {
                if (each instanceof OpResult.ErrorResult error && error.getErr() != Code.OK.intValue()) {
                    return error.getErr();
                }
            }
            return Code.OK.intValue();
        }
    }

    /**
     * Executes all operations or none. An interrupt has no effect and stays pending.
     *
     * @param ticks the monotonic time in nanoseconds
     * @return empty if there is no answer in time; the transaction may still take effect
     */
    Optional<Answer> await(List<Op> operations, Duration timeout, LongSupplier ticks) {
        RequestHeader header = new RequestHeader();
        header.setType(OpCode.multi);
        ReplyHeader reply = new ReplyHeader();
        Results results = new Results();
        // The thread that reads answers fills in reply and results, and then notifies the packet.
        Object packet = cnxn.queuePacket(
                header, reply, new MultiOperationRecord(operations), results, null, null, null, null, null);
        long deadline = ticks.getAsLong() + timeout.toNanos();
        boolean wasInterrupted = false;
        synchronized (packet) {
            while (reply.getErr() == Code.OK.intValue() && !results.haveArrived) {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - ticks.getAsLong()) + 1;
                if (left <= 0) {
                    break;
                }
                try {
                    packet.wait(left);
                } catch (InterruptedException e) {
                    wasInterrupted = true;
                }
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
        if (reply.getErr() != Code.OK.intValue()) {
            return Optional.of(new Answer(reply.getErr(), List.of()));
        }
        return results.haveArrived
                ? Optional.of(new Answer(results.code(), results.all.getResultList()))
                : Optional.empty();
    }
}
