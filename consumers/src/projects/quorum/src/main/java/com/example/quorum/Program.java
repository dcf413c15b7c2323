package com.example.quorum;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.store.quorum.QuorumStore;
import java.time.Duration;

/** A quorum of three members that it finds by their schemes, opened by its class and by a URI. */
public final class Program {

    /** For a machine that is busy with other things. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    public static void main(String... arguments) throws InterruptedException {
        try (QuorumStore store = QuorumStore.builder()
                        .member("memory:a")
                        .member("memory:b")
                        .member("memory:c")
                        .answerWithin(PATIENCE)
                        .open();
                Holdfast holdfast = Holdfast.builder(store).build()) {
            lock(holdfast);
        }
        try (Holdfast holdfast = Holdfast.connect("quorum:(memory:d,memory:e,memory:f)?answerWithin=" + PATIENCE)) {
            lock(holdfast);
        }
    }

    private static void lock(Holdfast holdfast) throws InterruptedException {
        try (Hold hold = holdfast.lock("nightly-report").acquire(Duration.ofMinutes(1))) {
            System.out.println("held with token " + hold.fencingToken());
        }
    }
}
