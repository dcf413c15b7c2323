package dev.holdfast.store.etcd.rpc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;

/** Builds a transaction: one branch of operations runs if all comparisons hold, otherwise the other. */
public final class Transaction {

    private static final int EQUAL = 0;
    private static final int GREATER = 1;
    private static final int LESS = 2;
    private static final int BY_CREATE_REVISION = 1;
    private static final int BY_MOD_REVISION = 2;
    private static final int BY_VALUE = 3;

    private final MessageWriter message = new MessageWriter();

    /** When an operation runs. */
    public enum Branch {
        /** If all comparisons hold. */
        THEN(2),
        /** If a comparison fails. */
        ELSE(3);

        private final int field;

        Branch(int field) {
            this.field = field;
        }
    }

    /** A transaction without comparisons and operations. */
    public Transaction() {}

    /** Requires that a key was created by this revision; 0 for a missing key. */
    @CanIgnoreReturnValue
    public Transaction createdBy(byte[] key, long revision) {
        return compare(EQUAL, BY_CREATE_REVISION, key, 5, revision);
    }

    /** Requires that a key exists. */
    @CanIgnoreReturnValue
    public Transaction exists(byte[] key) {
        return compare(GREATER, BY_CREATE_REVISION, key, 5, 0);
    }

    /** Requires that a key was last changed by this revision. */
    @CanIgnoreReturnValue
    public Transaction changedBy(byte[] key, long revision) {
        return compare(EQUAL, BY_MOD_REVISION, key, 6, revision);
    }

    /** Requires that a key exists whose value is less than this one, compared by bytes. */
    @CanIgnoreReturnValue
    public Transaction valueBefore(byte[] key, byte[] value) {
        MessageWriter comparison =
                new MessageWriter().number(1, LESS).number(2, BY_VALUE).bytes(3, key);
        message.message(1, comparison.present(7, value));
        return this;
    }

    private Transaction compare(int result, int target, byte[] key, int field, long revision) {
        MessageWriter comparison =
                new MessageWriter().number(1, result).number(2, target).bytes(3, key);
        message.message(1, comparison.present(field, revision));
        return this;
    }

    /**
     * Sets a key.
     *
     * @param lease the lease that deletes the key at its end; 0 for none
     */
    @CanIgnoreReturnValue
    public Transaction put(byte[] key, byte[] value, long lease) {
        MessageWriter put = new MessageWriter().bytes(1, key).bytes(2, value).number(3, lease);
        message.message(Branch.THEN.field, new MessageWriter().message(2, put));
        return this;
    }

    /** Removes a key. */
    @CanIgnoreReturnValue
    public Transaction delete(byte[] key) {
        message.message(Branch.THEN.field, new MessageWriter().message(3, new MessageWriter().bytes(1, key)));
        return this;
    }

    /** Reads a key. */
    @CanIgnoreReturnValue
    public Transaction get(Branch branch, byte[] key) {
        return range(branch, Range.of(key));
    }

    /** Reads a range. */
    @CanIgnoreReturnValue
    public Transaction range(Branch branch, Range range) {
        message.message(branch.field, new MessageWriter().message(1, range.message()));
        return this;
    }

    MessageWriter message() {
        return message;
    }
}
