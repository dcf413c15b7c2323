package dev.holdfast.store.etcd.rpc;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The keys of a range.
 *
 * @param hasMore whether the limit left out further keys
 */
public record RangeResponse(ResponseHeader header, List<KeyValue> keys, boolean hasMore) {

    static RangeResponse of(MessageReader message) {
        ResponseHeader header = ResponseHeader.NONE;
        List<KeyValue> keys = new ArrayList<>();
        boolean hasMore = false;
        for (int field = message.next(); field != 0; field = message.next()) {
            switch (field) {
                case 1 -> header = ResponseHeader.of(message.message());
                case 2 -> keys.add(KeyValue.of(message.message()));
                case 3 -> hasMore = message.flag();
                default -> {}
            }
        }
        return new RangeResponse(header, keys, hasMore);
    }

    /** The key of a range of one key. */
    public Optional<KeyValue> only() {
        return keys.stream().findFirst();
    }
}
