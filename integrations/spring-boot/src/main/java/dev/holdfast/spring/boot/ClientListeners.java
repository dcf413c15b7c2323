package dev.holdfast.spring.boot;

import dev.holdfast.HoldfastListener;

/** Creates a separate listener for each client. */
@FunctionalInterface
interface ClientListeners {

    /** The listener of the client with a name; the same one for the same name. */
    HoldfastListener of(String client);
}
