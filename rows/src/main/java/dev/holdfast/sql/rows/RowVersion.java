package dev.holdfast.sql.rows;

import java.io.Serializable;

/**
 * The version of a row's content.
 *
 * @param number how often it was changed
 * @param nonce a random number that is new with each change: after a fail-over that has lost the newest changes, the
 *     same number may be used again for other content; 0 if a table stores none
 */
public record RowVersion(long number, long nonce) implements Serializable {

    /** The version of an unused name. */
    static final RowVersion NONE = new RowVersion(0, 0);

    @Override
    public String toString() {
        return nonce == 0 ? Long.toString(number) : number + "/" + Long.toHexString(nonce);
    }
}
