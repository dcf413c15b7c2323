package dev.holdfast.store.register;

/**
 * The version of a record. It identifies one write; no later write of that name has the same version, even after the
 * record was deleted and created again.
 *
 * @param incarnation rises with each creation of the record, unless the record was deleted by hand, and is never
 *     repeated. On etcd it is the create revision. On ZooKeeper a new node begins at version 0 again, so the
 *     incarnation is the number of deletions in the shard, with a random number; a guard node has both in its name, and
 *     every write checks that it exists
 * @param change rises with each write within an incarnation: the mod revision on etcd, the node's version on ZooKeeper
 */
public record RecordVersion(long incarnation, long change) {

    /** Whether it is an earlier version of the same name, as far as the numbers show. */
    public boolean isBefore(RecordVersion other) {
        return incarnation < other.incarnation || (incarnation == other.incarnation && change < other.change);
    }
}
