package dev.holdfast.store.etcd.rpc;

/**
 * The answer to a grant, a renewal or a query of a lease.
 *
 * @param seconds the ttl, or the remaining time; without such a lease 0 after a renewal, and -1 after a query
 */
public record LeaseResponse(ResponseHeader header, long id, long seconds) {

    static LeaseResponse of(MessageReader message) {
        ResponseHeader header = ResponseHeader.NONE;
        long id = 0;
        long seconds = 0;
        for (int field = message.next(); field != 0; field = message.next()) {
            switch (field) {
                case 1 -> header = ResponseHeader.of(message.message());
                case 2 -> id = message.number();
                case 3 -> seconds = message.number();
                default -> {}
            }
        }
        return new LeaseResponse(header, id, seconds);
    }
}
