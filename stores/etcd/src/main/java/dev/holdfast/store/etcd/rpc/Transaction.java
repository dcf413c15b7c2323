package dev.holdfast.store.etcd.rpc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;

/** A transaction that is put together: if all comparisons hold, some operations are done, else others. */
public final class Transaction {

    private static final int EQUAL = 0;
    private static final int GREATER = 1;
    private static final int LESS = 2;
    private static final int BY_CREATE_REVISION = 1;
    private static final int BY_MOD_REVISION = 2;
    private static final int BY_VALUE = 3;

    private final MessageWriter message = new MessageWriter();

    /** Where an operation belongs. */
    public enum Branch {
        /** To what is done if all comparisons hold. */
        THEN(2),
        /** To what is done if one does not. */
        ELSE(3);

        private final int field;

        Branch(int field) {
            this.field = field;
        }
    }

    /** Nothing is compared, and nothing done. */
    public Transaction() {}

    /** Demands that a key was made by this revision; 0 that there is none. */
    @CanIgnoreReturnValue
    public Transaction createdBy(byte[] key, long revision) {
        return compare(EQUAL, BY_CREATE_REVISION, key, 5, revision);
    }

    /** Demands that there is a key. */
    @CanIgnoreReturnValue
    public Transaction exists(byte[] key) {
        return compare(GREATER, BY_CREATE_REVISION, key, 5, 0);
    }

    /** Demands that a key was changed last by this revision. */
    @CanIgnoreReturnValue
    public Transaction changedBy(byte[] key, long revision) {
        return compare(EQUAL, BY_MOD_REVISION, key, 6, revision);
    }

    /** Demands that there is a key whose value comes before this one, byte by byte. */
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
     * @param lease what it ends with; 0 for nothing
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
