package dev.holdfast.store.etcd.rpc;

import io.grpc.Status;

/** A call that was not answered, or was refused. */
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

    /** What the server says, or the library, without the latter's notes on its inside; the code if it says nothing. */
    String description() {
        String description = status.getDescription();
        return description == null
                ? status.getCode().toString()
                : description.lines().findFirst().orElse("");
    }

    /** The same, with the words of the cause. */
    String words() {
        Throwable cause = status.getCause();
        return description() + (cause == null || cause.getMessage() == null ? "" : ": " + cause.getMessage());
    }
}
