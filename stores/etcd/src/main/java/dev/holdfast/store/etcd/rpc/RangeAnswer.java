package dev.holdfast.store.etcd.rpc;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The keys of a range.
 *
 * @param hasMore whether the limit left some out
 */
public record RangeAnswer(Header header, List<KeyValue> keys, boolean hasMore) {

    static RangeAnswer of(MessageReader message) {
        Header header = Header.NONE;
        List<KeyValue> keys = new ArrayList<>();
        boolean hasMore = false;
        for (int field = message.next(); field != 0; field = message.next()) {
            switch (field) {
                case 1 -> header = Header.of(message.message());
                case 2 -> keys.add(KeyValue.of(message.message()));
                case 3 -> hasMore = message.flag();
                default -> {}
            }
        }
        return new RangeAnswer(header, keys, hasMore);
    }

    /** The key, of a range that is one. */
    public Optional<KeyValue> only() {
        return keys.stream().findFirst();
    }
}
