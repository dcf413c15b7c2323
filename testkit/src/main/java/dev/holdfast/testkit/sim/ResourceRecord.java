package dev.holdfast.testkit.sim;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The {@link StoreOracle}'s record of one resource: its holders, its waiters and all token blocks. */
final class ResourceRecord {

    /** The token block of a grant. */
    private record Block(long last, ClaimRecord grant) {}

    private final World world;
    private final String resource;
    private final @Nullable LatchRecord latch;
    private final Map<ClaimRef, ClaimRecord> waiting = new LinkedHashMap<>();
    private final Map<ClaimRef, ClaimRecord> holders = new LinkedHashMap<>();
    /** All blocks, by their first tokens. */
    private final NavigableMap<Long, Block> blocks = new TreeMap<>();

    private ResourceSpec spec;
    /** The higher of the capacities before and after a step, within which expired claims may first make room. */
    private int capacityInStep;

    private int greatestCapacity;
    private int smallestCapacity;
    private long newestToken;
    private long freeSince = Long.MAX_VALUE;

    ResourceRecord(World world, ResourceInfo info, @Nullable LatchRecord latch) {
        this.world = world;
        this.latch = latch;
        this.resource = info.name().value();
        this.spec = info.spec();
        this.capacityInStep = spec.capacity();
        this.greatestCapacity = spec.capacity();
        this.smallestCapacity = spec.capacity();
    }

    // ---- Events

    /** Called with the store's view of the resource after a step. */
    void update(ResourceSpec present) {
        capacityInStep = Math.max(spec.capacity(), present.capacity());
        spec = present;
        greatestCapacity = Math.max(greatestCapacity, present.capacity());
        smallestCapacity = Math.min(smallestCapacity, present.capacity());
    }

    void queue(ClaimRecord record) {
        waiting.put(record.ref, record);
    }

    /** Called when a claim is granted that waited, if only in this step. */
    void grant(ClaimRecord record, long micros) {
        waiting.remove(record.ref);
        if (record.isOverTimeAt(micros)) {
            world.fail(Rule.NO_REVIVAL, "the store granted " + record + ", whose session had ended");
        }
        if (spec.order() == Order.FAIR) {
            for (ClaimRecord other : waiting.values()) {
                if (other.place < record.place && !other.session.isDeadAt(micros)) {
                    world.fail(Rule.IN_ORDER, record + " was granted before " + other);
                }
            }
        }
        if (latch != null && !latch.isOpen()) {
            world.fail(Rule.PASSED_TOGETHER, record + " passed a latch that is not open");
        }
        holders.put(record.ref, record);
        long weight = 0;
        for (ClaimRecord other : holders.values()) {
            weight += other.weight;
        }
        // Holders from before a resize stay, but no claim is admitted in addition.
        if (weight > capacityInStep) {
            world.fail(admission(), record + " was granted, and now too many hold at once: " + holders.values());
        }
    }

    private Rule admission() {
        return switch (spec.kind()) {
            case READ_WRITE -> Rule.READERS_OR_WRITER;
            case SEMAPHORE -> Rule.PERMITS;
            default -> Rule.ONE_HOLDER;
        };
    }

    /**
     * Records the block of a grant.
     *
     * @return whether it is new, and not the first of this resource
     */
    boolean noteBlock(ClaimRecord record, long first, long last) {
        if (last == record.newestToken) {
            return false;
        }
        if (first <= newestToken) {
            world.fail(
                    Rule.TOKENS_RISE,
                    record + " was given the tokens " + first + " to " + last + ", but " + newestToken
                            + " was given before");
        }
        boolean isFirst = newestToken == 0;
        newestToken = last;
        record.newestToken = last;
        blocks.put(first, new Block(last, record));
        return !isFirst;
    }

    void remove(ClaimRecord record) {
        waiting.remove(record.ref);
        holders.remove(record.ref);
    }

    /** All present claims, holders first. */
    void forEach(Consumer<ClaimRecord> action) {
        List.copyOf(holders.values()).forEach(action);
        List.copyOf(waiting.values()).forEach(action);
    }

    // ---- Queries

    /** Whether a live claim waits although the latch is open. */
    boolean isShutOut(ClaimRecord record, long micros) {
        return latch != null && latch.isOpen() && !record.isOverTimeAt(micros);
    }

    boolean isHeld() {
        return !holders.isEmpty();
    }

    int greatestCapacity() {
        return greatestCapacity;
    }

    int smallestCapacity() {
        return smallestCapacity;
    }

    /** The grant whose block had a token, however long ago; null if there never was one. */
    @Nullable
    ClaimRecord grantOf(long token) {
        Map.Entry<Long, Block> entry = blocks.floorEntry(token);
        return entry == null || token > entry.getValue().last()
                ? null
                : entry.getValue().grant();
    }

    /** Checks that a process that neither holds nor waits has no claim. */
    void checkNothingOf(SimProcess process, long micros) {
        forEach(record -> {
            if (record.session.owner.process() == process && !record.isOverTimeAt(micros)) {
                world.fail(
                        Rule.GIVEN_UP,
                        process + " neither holds nor waits for " + resource + ", but at the store stands " + record);
            }
        });
    }

    /** Checks that no live claim of another process has waited for longer than the bound, in true time. */
    void checkNobodyPassed(SimProcess process, long micros, long boundNanos) {
        for (ClaimRecord record : waiting.values()) {
            if (record.session.owner.process() != process
                    && !record.isOverTimeAt(micros)
                    && world.now() - record.madeAt > boundNanos) {
                world.fail(
                        Rule.PASSED_OVER,
                        process + " hands " + resource + " over within it, though " + record + " has waited for "
                                + (world.now() - record.madeAt) / 1_000 + " us, and may for " + boundNanos / 1_000);
            }
        }
    }

    /**
     * Checks that the next live claim does not wait although there is room, as after a missed wake-up. Called often
     * while there are no faults.
     *
     * @param boundNanos how long it may wait, in true time
     */
    void checkProgress(long micros, long boundNanos) {
        long taken = 0;
        for (ClaimRecord record : holders.values()) {
            taken += record.isOverTimeAt(micros) ? 0 : record.weight;
        }
        ClaimRecord next = nextAt(micros);
        boolean isShut = latch != null && !latch.isOpen();
        if (next == null || isShut || taken + next.weight > spec.capacity()) {
            freeSince = Long.MAX_VALUE;
        } else if (freeSince == Long.MAX_VALUE) {
            freeSince = world.now();
        } else if (world.now() - freeSince > boundNanos) {
            world.fail(
                    Rule.NOBODY_WAITS_FOR_EVER,
                    resource + " is free and wanted for " + (world.now() - freeSince) / 1_000_000 + " ms: "
                            + waiting.values());
        }
    }

    /**
     * The next live claim; null if there is none, or if its process is dead: that one keeps its place for the rest of
     * its ttl.
     */
    private @Nullable ClaimRecord nextAt(long micros) {
        for (ClaimRecord record : waiting.values()) {
            if (!record.isOverTimeAt(micros)) {
                return record.session.owner.process().isDead() ? null : record;
            }
        }
        return null;
    }
}
