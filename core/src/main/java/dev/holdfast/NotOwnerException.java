package dev.holdfast;

/** A release by a thread that is not the owner, or has already released. Nothing was changed. */
public final class NotOwnerException extends IllegalMonitorStateException {

    private static final long serialVersionUID = 1L;

    private final String resource;

    /** For the engine. */
    public NotOwnerException(String resource, String message) {
        super(message);
        this.resource = resource;
    }

    /** The name of the lock. */
    public String resource() {
        return resource;
    }
}
