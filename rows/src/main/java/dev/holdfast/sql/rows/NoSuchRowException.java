package dev.holdfast.sql.rows;

import dev.holdfast.HoldfastException;

/** The transaction sees no row with this key. Nothing was changed. */
public final class NoSuchRowException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    NoSuchRowException(String row, String database) {
        super("There is no row for " + row + " (" + database + ").", row, database, null);
    }
}
