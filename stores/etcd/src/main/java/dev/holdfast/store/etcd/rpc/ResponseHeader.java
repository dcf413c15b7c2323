package dev.holdfast.store.etcd.rpc;

/**
 * The header of every answer.
 *
 * @param cluster the cluster that answered
 * @param member the member that answered
 * @param revision the revision of the key space at that time
 * @param term the member's raft term
 */
public record ResponseHeader(long cluster, long member, long revision, long term) {

    static final ResponseHeader NONE = new ResponseHeader(0, 0, 0, 0);

    static ResponseHeader of(MessageReader message) {
        long cluster = 0;
        long member = 0;
        long revision = 0;
        long term = 0;
        for (int field = message.next(); field != 0; field = message.next()) {
            switch (field) {
                case 1 -> cluster = message.number();
                case 2 -> member = message.number();
                case 3 -> revision = message.number();
                case 4 -> term = message.number();
                default -> {}
            }
        }
        return new ResponseHeader(cluster, member, revision, term);
    }
}
