package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.support.ForwardingStore;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;

/**
 * The kit in real time on a machine that stops for longer than a short lease lasts, right after each such lease has
 * begun: no rule fails, since the test is repeated with leases that last longer, which nothing stops here.
 */
class ReferenceStoreOnASlowMachineConformanceTest extends LockStoreConformance {

    private static final Duration SHORT = Duration.ofMillis(60);
    private static final AtomicInteger STOPS = new AtomicInteger();

    @Override
    protected StoreUnderTest open() {
        RealTimeSubject subject = new RealTimeSubject(SHORT);
        return new StoreUnderTest() {
            @Override
            public LockStore first() {
                return new Stopping(subject.first());
            }

            @Override
            public LockStore second() {
                return new Stopping(subject.second());
            }

            @Override
            public Duration shortTtl() {
                return SHORT;
            }

            @Override
            public int randomRuns() {
                return 1;
            }

            @Override
            public void close() {
                subject.close();
            }
        };
    }

    @AfterAll
    static void wasStopped() {
        assertThat(STOPS).hasPositiveValue();
    }

    /** Stops after each command that begins a lease of the usual short length, until that is over. */
    private static final class Stopping extends ForwardingStore {

        Stopping(LockStore store) {
            super(store);
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            CompletionStage<Reply> reply = super.execute(command, caller);
            if (begins(command)) {
                STOPS.incrementAndGet();
                long start = System.nanoTime();
                while (System.nanoTime() - start < 2 * SHORT.toNanos()) {
                    LockSupport.parkNanos(SHORT.toNanos());
                }
            }
            return reply;
        }

        private static boolean begins(Command command) {
            return command instanceof Command.OpenSession open && open.ttl().equals(SHORT)
                    || command instanceof Command.Acquire acquire
                            && acquire.lease().length().equals(SHORT);
        }
    }
}
