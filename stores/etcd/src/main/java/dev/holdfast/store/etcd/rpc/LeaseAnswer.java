package dev.holdfast.store.etcd.rpc;

/**
 * An answer about a lease: that it was granted or renewed, or what is left of it.
 *
 * @param seconds the time to live; not positive if there is no such lease, but of what is left, 0 is less than a second
 */
public record LeaseAnswer(Header header, long id, long seconds) {

    static LeaseAnswer of(MessageReader message) {
        Header header = Header.NONE;
        long id = 0;
        long seconds = 0;
        for (int field = message.next(); field != 0; field = message.next()) {
            switch (field) {
                case 1 -> header = Header.of(message.message());
                case 2 -> id = message.number();
                case 3 -> seconds = message.number();
                default -> {}
            }
        }
        return new LeaseAnswer(header, id, seconds);
    }
}
