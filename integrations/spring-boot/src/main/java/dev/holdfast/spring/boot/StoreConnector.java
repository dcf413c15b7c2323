package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;

/**
 * Opens lock stores on connection beans of one type.
 *
 * @param <T> the type of the beans
 */
interface StoreConnector<T> {

    /** Of which type the beans are. */
    Class<T> type();

    /** Opens a store on a bean. */
    LockStore open(T connection);
}
