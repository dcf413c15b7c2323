package dev.holdfast.testkit;

import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** A group of rules; each of its tests has a store of its own. */
@TestMethodOrder(MethodOrderer.DisplayName.class)
@ExtendWith(LongerOnSlowMachines.class)
abstract class ConformanceRules {

    // Set before each test, and closed after it.
    @SuppressWarnings("NullAway.Init")
    ConformanceFixture fixture;

    // Set before each test, by the class around this one.
    @SuppressWarnings("NullAway.Init")
    Callable<StoreUnderTest> subjects;

    @BeforeEach
    void openStore() throws Exception {
        fixture = new ConformanceFixture(subjects.call(), 1);
    }

    /** Gives the test another store, whose short leases are longer by a factor. */
    void reopenStore(int factor) throws Exception {
        fixture.close();
        fixture = new ConformanceFixture(subjects.call(), factor);
    }

    @AfterEach
    void closeStore() {
        fixture.close();
    }
}
