package dev.holdfast;

/**
 * The name is in use as something else: another kind, capacity or order. Nothing was changed. Agree on one declaration,
 * or use another name.
 */
public final class LockMismatchException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public LockMismatchException(String resource, String store, String detail) {
        super(
                "Lock '" + resource + "' can't be used as declared here: " + detail + " (store " + store
                        + "). Declare it the same way in every program, or use another name.",
                resource,
                store,
                null);
    }
}
