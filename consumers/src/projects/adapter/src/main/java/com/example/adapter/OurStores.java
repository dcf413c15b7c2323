package com.example.adapter;

import dev.holdfast.spi.LockStore;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.client.RegisterStore;

/** Lock stores on our kind of server. */
public final class OurStores {

    private OurStores() {}

    /** Opens a store on a connection. */
    public static LockStore open(RegisterAdapter connection) {
        return RegisterStore.over(new OurAdapter(connection));
    }
}
