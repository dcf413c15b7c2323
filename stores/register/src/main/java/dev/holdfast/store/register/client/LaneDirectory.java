package dev.holdfast.store.register.client;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;

/** The lanes of this client, as a lane and the parts of its rounds know them. Thread-safe. */
interface LaneDirectory {

    /** Executes a call on a resource, after the calls before it. */
    void submit(Context context, ResourceName resource, LaneCall call);

    /** Lets the lane of a resource rest, if it has no calls, and this client neither waits in it nor watches others. */
    void rest(ResourceName resource);

    /** Notes that a session or lease has ended. */
    void gone(SessionId id, boolean wasOwn);
}
