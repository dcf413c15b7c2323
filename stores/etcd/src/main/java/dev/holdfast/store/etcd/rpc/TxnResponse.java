package dev.holdfast.store.etcd.rpc;

import java.util.ArrayList;
import java.util.List;

/**
 * The answer to a transaction.
 *
 * @param succeeded whether all comparisons held
 * @param ranges the answers to the reads of the executed branch
 */
public record TxnResponse(ResponseHeader header, boolean succeeded, List<RangeResponse> ranges) {

    static TxnResponse of(MessageReader message) {
        ResponseHeader header = ResponseHeader.NONE;
        boolean succeeded = false;
        List<RangeResponse> ranges = new ArrayList<>();
        for (int field = message.next(); field != 0; field = message.next()) {
            switch (field) {
                case 1 -> header = ResponseHeader.of(message.message());
                case 2 -> succeeded = message.flag();
                case 3 -> {
                    MessageReader operation = message.message();
                    if (operation.next() == 1) {
                        ranges.add(RangeResponse.of(operation.message()));
                    }
                }
                default -> {}
            }
        }
        return new TxnResponse(header, succeeded, ranges);
    }
}
