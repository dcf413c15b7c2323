package dev.holdfast.store.etcd.rpc;

import java.util.ArrayList;
import java.util.List;

/**
 * The answer to a transaction.
 *
 * @param succeeded whether all comparisons held
 * @param ranges of the operations that were done, the answers to those that read
 */
public record TxnAnswer(Header header, boolean succeeded, List<RangeAnswer> ranges) {

    static TxnAnswer of(MessageReader message) {
        Header header = Header.NONE;
        boolean succeeded = false;
        List<RangeAnswer> ranges = new ArrayList<>();
        for (int field = message.next(); field != 0; field = message.next()) {
            switch (field) {
                case 1 -> header = Header.of(message.message());
                case 2 -> succeeded = message.flag();
                case 3 -> {
                    MessageReader operation = message.message();
                    if (operation.next() == 1) {
                        ranges.add(RangeAnswer.of(operation.message()));
                    }
                }
                default -> {}
            }
        }
        return new TxnAnswer(header, succeeded, ranges);
    }
}
