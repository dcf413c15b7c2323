package com.example.memory;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.time.Duration;

/** Finds its store by the scheme alone: nothing in the code names the store's module. */
public final class Program {

    public static void main(String... arguments) throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            try (Hold hold = holdfast.lock("nightly-report").acquire(Duration.ofMinutes(1))) {
                System.out.println("held with token " + hold.fencingToken());
            }
        }
    }
}
