package dev.holdfast.store.quorum;

import dev.holdfast.spi.LockStore;
import java.time.Duration;

/** The examples of the documentation. */
final class QuorumExamples {

    private QuorumExamples() {}

    static QuorumStore opening(LockStore existingStore) {
        QuorumStore store = QuorumStore.builder()
                .member("redis://a.example")
                .member("redis://b.example")
                .member(existingStore) // is not closed with the quorum
                .longestLease(Duration.ofMinutes(2))
                .open();
        return store;
    }
}
