package dev.holdfast.sql.rows;

import java.io.Serializable;

/**
 * Which state of a row was seen.
 *
 * @param number how often it was changed
 * @param nonce drawn anew with each change: after a fail-over that has lost the newest changes a number comes a second
 *     time, for another content; 0 where a table keeps none
 */
public record RowVersion(long number, long nonce) implements Serializable {

    /** Of a name that nobody has used. */
    static final RowVersion NONE = new RowVersion(0, 0);

    @Override
    public String toString() {
        return nonce == 0 ? Long.toString(number) : number + "/" + Long.toHexString(nonce);
    }
}
