package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.RecordVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.proto.CreateRequest;

/*
 * A watch reports the path of a node that was created, but not its data. To hand a lock over without a read, a short
 * piece of mail is also the name of a node, which its write creates and deletes again: who watches the mailbox has it
 * with the event. The node never exists between two writes, so the mailbox of a client that does not read for a while
 * stays short enough to be listed, and clients that do not know of such nodes never see one.
 */

/** The operations that put mail into mailboxes. */
final class MailOperations {

    /** Longer mail is read from its node. A name is sent three times: twice in the write, and in the event. */
    static final int LONGEST_IN_NAME = 1_024;

    /** A write with mail for more sessions than this hands nothing over, but has to be short. */
    private static final int MOST_IN_NAMES = 4;

    private static final byte[] NOTHING = {};

    private MailOperations() {}

    /**
     * The operations for some mail, in their order.
     *
     * @param record the version of the record that is written with it
     */
    static List<Op> of(NodeLayout layout, List<ACL> acl, RecordVersion record, Map<SessionId, byte[]> mail) {
        List<Op> operations = new ArrayList<>();
        mail.forEach((to, content) -> {
            byte[] data = NodeData.mail(record, content);
            if (mail.size() <= MOST_IN_NAMES && data.length <= LONGEST_IN_NAME) {
                String path = layout.mailContent(to, data);
                operations.add(Op.create(path, NOTHING, acl, CreateMode.PERSISTENT));
                operations.add(Op.delete(path, -1));
            }
            operations.add(Op.create(layout.mail(to), data, acl, CreateMode.PERSISTENT_SEQUENTIAL));
        });
        return operations;
    }

    /** The bytes of an operation, without its head. */
    static int size(Op operation) {
        int data = operation.toRequestRecord() instanceof CreateRequest create ? create.getData().length : 0;
        return operation.getPath().length() + data;
    }
}
