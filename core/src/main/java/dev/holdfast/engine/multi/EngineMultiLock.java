package dev.holdfast.engine.multi;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.MultiHold;
import dev.holdfast.MultiLock;
import dev.holdfast.engine.local.AcquireTerms.Interrupts;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.ResourceName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;

/** Several parts that are acquired together. Immutable. */
public final class EngineMultiLock implements MultiLock {

    private final LocalResources resources;

    /** Sorted by name, each name once. */
    private final List<MultiLockMember> parts;

    /**
     * Accepts the parts in any order.
     *
     * @throws IllegalArgumentException if the list is empty, or they can't be parts of one multi-lock
     */
    public EngineMultiLock(LocalResources resources, List<MultiLockMember> parts) {
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("A multi-lock must have at least one part");
        }
        TreeMap<ResourceName, MultiLockMember> inOrder = new TreeMap<>();
        for (MultiLockMember part : parts) {
            if (part.resources() != resources) {
                throw new IllegalArgumentException("'" + part.resource()
                        + "' belongs to another client: all parts of a multi-lock must belong to the "
                        + "client that creates it");
            }
            inOrder.merge(part.resource(), part, MultiLockMember::with);
        }
        this.resources = resources;
        this.parts = List.copyOf(inOrder.values());
    }

    @Override
    public List<String> names() {
        return parts.stream().map(part -> part.resource().value()).toList();
    }

    @Override
    public MultiHold acquire() throws InterruptedException {
        return acquire(AcquireOptions.defaults());
    }

    @Override
    public MultiHold acquire(Duration maxWait) throws InterruptedException {
        return acquire(AcquireOptions.defaults().withMaxWait(maxWait));
    }

    @Override
    public MultiHold acquire(AcquireOptions options) throws InterruptedException {
        MultiAcquisition call = call(options, Interrupts.END_WAIT);
        Optional<List<Hold>> holds = call.run();
        if (holds.isEmpty()) {
            throw call.timedOut();
        }
        return asOne(holds.get());
    }

    @Override
    public Optional<MultiHold> tryAcquire() {
        try {
            return call(AcquireOptions.defaults().withMaxWait(Duration.ZERO), Interrupts.KEEP_WAITING)
                    .run()
                    .map(this::asOne);
        } catch (InterruptedException e) {
            throw new AssertionError("a wait that ignores interrupts was interrupted", e);
        }
    }

    @Override
    public Optional<MultiHold> tryAcquire(Duration maxWait) throws InterruptedException {
        return tryAcquire(AcquireOptions.defaults().withMaxWait(maxWait));
    }

    @Override
    public Optional<MultiHold> tryAcquire(AcquireOptions options) throws InterruptedException {
        return call(options, Interrupts.END_WAIT).run().map(this::asOne);
    }

    private MultiAcquisition call(AcquireOptions options, Interrupts interrupts) {
        TotalWait wait = TotalWait.begin(resources.context.environment(), options.maxWait());
        return new MultiAcquisition(resources.context, parts, options, wait, interrupts);
    }

    private MultiHold asOne(List<Hold> holds) {
        return new EngineMultiHold(resources.context, Thread.currentThread(), holds);
    }

    @Override
    public CompletionStage<MultiHold> acquireAsync() {
        return acquireAsync(AcquireOptions.defaults());
    }

    @Override
    public CompletionStage<MultiHold> acquireAsync(AcquireOptions options) {
        TotalWait wait = TotalWait.begin(resources.context.environment(), options.maxWait());
        return new AsyncMultiAcquisition(resources.context, parts, options, wait).begin();
    }

    @Override
    public String toString() {
        return "MultiLock" + names();
    }
}
