package dev.holdfast.store.etcd.rpc;

/**
 * What every answer of etcd begins with.
 *
 * @param cluster the cluster that answered
 * @param member the member that answered
 * @param revision the revision of the keys at that time
 * @param term the term of the consensus in which that member was
 */
public record Header(long cluster, long member, long revision, long term) {

    static final Header NONE = new Header(0, 0, 0, 0);

    static Header of(MessageReader message) {
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
        return new Header(cluster, member, revision, term);
    }
}
