package dev.holdfast;

/** The client was closed: it grants nothing any more, and its holds were released. */
public final class ClientClosedException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public ClientClosedException(String store) {
        super("This Holdfast client was closed (store " + store + "). Open a new one.");
    }
}
