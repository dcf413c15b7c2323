package dev.holdfast.spring.boot;

import dev.holdfast.HoldfastListener;

/** Makes listeners that each client has for itself. */
@FunctionalInterface
interface ClientListeners {

    /** The listener of the client with a name; the same one for the same name. */
    HoldfastListener of(String client);
}
