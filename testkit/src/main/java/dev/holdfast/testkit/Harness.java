package dev.holdfast.testkit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Gives every test a store of its own. */
abstract class Harness {

    // Set before each test, and closed after it.
    @SuppressWarnings("NullAway.Init")
    Bench bench;

    abstract StoreUnderTest openSubject() throws Exception;

    @BeforeEach
    void openStore() throws Exception {
        bench = new Bench(openSubject());
    }

    @AfterEach
    void closeStore() {
        bench.close();
    }
}
