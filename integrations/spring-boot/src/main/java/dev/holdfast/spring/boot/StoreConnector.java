package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
import java.util.function.Function;

/**
 * Opens lock stores on connection beans of one type.
 *
 * @param type the type of the beans
 * @param opening opens a store on a bean
 * @param <T> the type of the beans
 */
record StoreConnector<T>(Class<T> type, Function<T, LockStore> opening) {

    LockStore open(T connection) {
        return opening.apply(connection);
    }
}
