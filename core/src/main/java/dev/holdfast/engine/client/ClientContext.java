package dev.holdfast.engine.client;

import dev.holdfast.Deadlock;
import dev.holdfast.Environment;
import dev.holdfast.Loss;
import dev.holdfast.engine.execution.Callbacks;
import dev.holdfast.engine.execution.SpinWait;
import dev.holdfast.engine.observe.ClientObservers;
import dev.holdfast.engine.time.ElapsedClock;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all parts of one client share: its clock, settings and rules, and the executors and observers of its users.
 *
 * @param cohortBudgetNanos how long a lock is handed over locally while others wait
 */
public record ClientContext(
        Environment environment,
        ElapsedClock clock,
        ClientOptions options,
        long cohortBudgetNanos,
        SafetyRules rules,
        StoreTraits traits,
        Failures failures,
        LockViews views,
        Callbacks callbacks,
        ClientObservers observers,
        SpinWait spin,
        DoubtMonitor doubts,
        ClientLifecycle life) {
    private static final Logger log = LoggerFactory.getLogger(ClientContext.class);

    /** The context of a new client. */
    public static ClientContext of(
            Environment environment, ClientOptions options, SafetyRules rules, StoreTraits traits) {
        Failures failures = new Failures(traits.product());
        return new ClientContext(
                environment,
                new ElapsedClock(environment, options.sessionTtl()),
                options,
                options.cohortBudget().toNanos(),
                rules,
                traits,
                failures,
                new LockViews(traits.tokenSource(), environment::wallMillis),
                new Callbacks(environment),
                new ClientObservers(options.listeners(), traits.system()),
                new SpinWait(environment),
                new DoubtMonitor(),
                new ClientLifecycle(failures));
    }

    /** The store, for people. */
    public String product() {
        return traits.product();
    }

    public boolean isClosing() {
        return life.isClosing();
    }

    /**
     * Does nothing while the client is open.
     *
     * @throws dev.holdfast.ClientClosedException if it is closed
     */
    public void requireOpen() {
        if (isClosing()) {
            throw failures.closed();
        }
    }

    /** The exception for a failure of the store; while the client is being closed, one that says so. */
    public RuntimeException storeFailure(String resource, StoreException failure) {
        return isClosing() ? failures.closed() : failures.ofStore(resource, failure);
    }

    /** Logs a deadlock of which a thread of this client is a member, and reports it. Called once for each. */
    public void noteDeadlock(Deadlock deadlock) {
        boolean isEnded = deadlock.members().stream().anyMatch(Deadlock.Member::isEnded);
        log.warn(
                "store={} {}. {} Acquire these names in one order everywhere, or together with lockAll.",
                product(),
                ResourceName.printable(deadlock.describe()),
                isEnded ? "The youngest wait is ended (onDeadlock=fail)." : "Nothing was ended (onDeadlock=report).");
        observers.deadlock(deadlock, callbacks::runListener);
    }

    /** Logs the loss of a hold, and wakes threads that wait for one in doubt. */
    public void noteLoss(Loss loss) {
        log.warn(
                "resource={} store={} token={} hold lost: {}",
                ResourceName.printable(loss.name()),
                loss.store(),
                loss.token(),
                loss.cause().words());
        doubts.signalNews();
    }
}
