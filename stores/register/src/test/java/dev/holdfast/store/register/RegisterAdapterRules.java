package dev.holdfast.store.register;

import java.time.Duration;
import org.junit.jupiter.api.Nested;

/**
 * The contract of {@link RegisterAdapter} as tests, for each adapter to extend. All of a test's adapters are clients of
 * one server, whose records others may share, so each test uses different names.
 */
public abstract class RegisterAdapterRules {

    /** For the adapters' own tests. */
    protected RegisterAdapterRules() {}

    /**
     * Opens one more client of the server. The test closes it.
     *
     * @throws Exception if there is none to be had; the test fails then
     */
    protected abstract RegisterAdapter connect() throws Exception;

    /**
     * As {@link #connect}, for a client that the server gives up soon after it was closed, with all that ends with it.
     */
    protected RegisterAdapter connectBriefly() throws Exception {
        return connect();
    }

    /** The number of requests that the server has received from all clients. */
    protected abstract long requests();

    /** Moves the clock of a server that does not keep real time; called now and then by what waits for time to pass. */
    protected void letTimePass(Duration time) {}

    /** The clock that {@link #letTimePass} moves. */
    protected long nanoTime() {
        return System.nanoTime();
    }

    @Nested
    final class Records extends RecordRules {
        @Override
        RegisterAdapterRules server() {
            return RegisterAdapterRules.this;
        }
    }

    @Nested
    final class Writers extends WriterRules {
        @Override
        RegisterAdapterRules server() {
            return RegisterAdapterRules.this;
        }
    }

    @Nested
    final class Arriving extends ArrivalRules {
        @Override
        RegisterAdapterRules server() {
            return RegisterAdapterRules.this;
        }
    }

    @Nested
    final class Sessions extends SessionRules {
        @Override
        RegisterAdapterRules server() {
            return RegisterAdapterRules.this;
        }
    }

    @Nested
    final class Clocks extends ClockRules {
        @Override
        RegisterAdapterRules server() {
            return RegisterAdapterRules.this;
        }
    }

    @Nested
    final class Leases extends LeaseRules {
        @Override
        RegisterAdapterRules server() {
            return RegisterAdapterRules.this;
        }
    }

    @Nested
    final class Pushes extends PushRules {
        @Override
        RegisterAdapterRules server() {
            return RegisterAdapterRules.this;
        }
    }

    @Nested
    final class Indexes extends IndexRules {
        @Override
        RegisterAdapterRules server() {
            return RegisterAdapterRules.this;
        }
    }

    @Nested
    final class Listings extends ListingRules {
        @Override
        RegisterAdapterRules server() {
            return RegisterAdapterRules.this;
        }
    }

    @Nested
    final class Turns extends TurnRules {
        @Override
        RegisterAdapterRules server() {
            return RegisterAdapterRules.this;
        }
    }

    @Nested
    final class Closings extends ClosingRules {
        @Override
        RegisterAdapterRules server() {
            return RegisterAdapterRules.this;
        }
    }
}
