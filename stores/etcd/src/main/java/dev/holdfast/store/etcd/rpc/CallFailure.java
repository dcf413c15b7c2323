package dev.holdfast.store.etcd.rpc;

import io.grpc.Status;

/** A call that got no answer or was rejected. */
final class CallFailure extends Exception {

    private static final long serialVersionUID = 1L;

    private final transient Status status;
    private final boolean wasSent;

    /**
     * A failure.
     *
     * @param wasSent whether a part of the request may have left this process
     */
    CallFailure(Status status, boolean wasSent) {
        super(status.getDescription(), status.getCause());
        this.status = status;
        this.wasSent = wasSent;
    }

    Status.Code code() {
        return status.getCode();
    }

    boolean wasSent() {
        return wasSent;
    }

    /** The first line of the server's or the library's message; the status code if there is none. */
    String description() {
        String description = status.getDescription();
        return description == null
                ? status.getCode().toString()
                : description.lines().findFirst().orElse("");
    }

    /** The {@link #description} with the message of the cause. */
    String fullDescription() {
        Throwable cause = status.getCause();
        return description() + (cause == null || cause.getMessage() == null ? "" : ": " + cause.getMessage());
    }
}
