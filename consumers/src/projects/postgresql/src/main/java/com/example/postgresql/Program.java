package com.example.postgresql;

import dev.holdfast.Holdfast;
import dev.holdfast.StoreUnavailableException;

/** Tries to connect to a server that does not exist: only its POM names the driver. */
public final class Program {

    public static void main(String... arguments) {
        try (Holdfast holdfast = Holdfast.connect("postgresql://127.0.0.1:1/shop")) {
            throw new AssertionError(holdfast + " has found a server");
        } catch (StoreUnavailableException e) {
            if (!e.getMessage().contains("can't be reached")) {
                throw new AssertionError("should say that it can't be reached", e);
            }
            System.out.println(e.getMessage());
        }
    }
}
