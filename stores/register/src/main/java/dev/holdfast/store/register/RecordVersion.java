package dev.holdfast.store.register;

/**
 * The version of a record: it names one write, and no later write of that name has it again, even after the record was
 * deleted and made anew.
 *
 * @param incarnation rises from one creation of the record to the next, unless the record was deleted by hand, and is
 *     never repeated. On etcd it is the create revision. A ZooKeeper node begins at version 0 again when it is made
 *     anew, so there it is a number of the shard's that every deletion raises, with a random number; a node is named
 *     after both, and every write checks that it is there
 * @param change rises with each write within an incarnation: the mod revision on etcd, the node's version on ZooKeeper
 */
public record RecordVersion(long incarnation, long change) {

    /** Whether it names an earlier write than another version of the same name, as far as numbers tell. */
    public boolean isBefore(RecordVersion other) {
        return incarnation < other.incarnation || (incarnation == other.incarnation && change < other.change);
    }
}
