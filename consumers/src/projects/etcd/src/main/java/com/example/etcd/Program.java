package com.example.etcd;

import dev.holdfast.Holdfast;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.etcd.EtcdStore;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;

/** Tries to connect to a server that does not exist, by a URI and on its own channel. */
public final class Program {

    public static void main(String... arguments) {
        try (Holdfast holdfast = Holdfast.connect("etcd://127.0.0.1:1")) {
            throw new AssertionError(holdfast + " has found a server");
        } catch (StoreUnavailableException e) {
            expect("can't be reached", e);
        }
        ManagedChannel channel =
                ManagedChannelBuilder.forTarget("127.0.0.1:1").usePlaintext().build();
        try (LockStore store = EtcdStore.builder(channel).open()) {
            throw new AssertionError(store + " has found a server");
        } catch (StoreException e) {
            expect("can't be reached", e);
        } finally {
            channel.shutdownNow();
        }
    }

    private static void expect(String text, Exception failure) {
        if (!failure.getMessage().contains(text)) {
            throw new AssertionError("should say '" + text + "'", failure);
        }
        System.out.println(failure.getMessage());
    }
}
