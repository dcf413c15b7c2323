package dev.holdfast.testkit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** A group of rules, of which every test has a store of its own. */
@TestMethodOrder(MethodOrderer.DisplayName.class)
@ExtendWith(LongerOnSlowMachines.class)
abstract class Harness {

    // Set before each test, and closed after it.
    @SuppressWarnings("NullAway.Init")
    Bench bench;

    abstract StoreUnderTest openSubject() throws Exception;

    @BeforeEach
    void openStore() throws Exception {
        bench = new Bench(openSubject(), 1);
    }

    /** Gives the test another store, where short things last longer by so much. */
    void reopenStore(int factor) throws Exception {
        bench.close();
        bench = new Bench(openSubject(), factor);
    }

    @AfterEach
    void closeStore() {
        bench.close();
    }
}
