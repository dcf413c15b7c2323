package com.example.redis;

import dev.holdfast.Holdfast;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.redis.RedisStore;
import io.lettuce.core.RedisURI;

/** Tries to connect to a server that does not exist, by a URI and with an address of the driver's type. */
public final class Program {

    public static void main(String... arguments) {
        try (Holdfast holdfast = Holdfast.connect("redis://127.0.0.1:1")) {
            throw new AssertionError(holdfast + " has found a server");
        } catch (StoreUnavailableException e) {
            expect("can't be reached", e);
        }
        try (LockStore store = RedisStore.open(RedisURI.create("127.0.0.1", 1))) {
            throw new AssertionError(store + " has found a server");
        } catch (StoreException e) {
            expect("can't be reached", e);
        }
    }

    private static void expect(String text, Exception failure) {
        if (!failure.getMessage().contains(text)) {
            throw new AssertionError("should say '" + text + "'", failure);
        }
        System.out.println(failure.getMessage());
    }
}
