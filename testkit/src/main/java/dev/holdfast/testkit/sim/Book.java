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

/**
 * What the {@link Ledger} has written down about one resource: who holds it, who waits, and which tokens were given.
 */
final class Book {

    /** A run of tokens that was given to a grant. */
    private record Block(long last, ClaimRecord grant) {}

    private final World world;
    private final String resource;
    private final @Nullable LatchBook latch;
    private final Map<ClaimRef, ClaimRecord> waiting = new LinkedHashMap<>();
    private final Map<ClaimRef, ClaimRecord> held = new LinkedHashMap<>();
    /** Every block that there was, by its first token. */
    private final NavigableMap<Long, Block> blocks = new TreeMap<>();

    private ResourceSpec spec;
    /** Within a step the dead may make room first, and the capacity be changed then. */
    private int capacityInStep;

    private int greatestCapacity;
    private int smallestCapacity;
    private long newestToken;
    private long freeSince = Long.MAX_VALUE;

    Book(World world, ResourceInfo info, @Nullable LatchBook latch) {
        this.world = world;
        this.latch = latch;
        this.resource = info.name().value();
        this.spec = info.spec();
        this.capacityInStep = spec.capacity();
        this.greatestCapacity = spec.capacity();
        this.smallestCapacity = spec.capacity();
    }

    // What happens

    /** What the store says of the resource after a step. */
    void update(ResourceSpec present) {
        capacityInStep = Math.max(spec.capacity(), present.capacity());
        spec = present;
        greatestCapacity = Math.max(greatestCapacity, present.capacity());
        smallestCapacity = Math.min(smallestCapacity, present.capacity());
    }

    void queue(ClaimRecord record) {
        waiting.put(record.ref, record);
    }

    /** A claim that waited, if only in this very step, is granted. */
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
        held.put(record.ref, record);
        long weight = 0;
        for (ClaimRecord other : held.values()) {
            weight += other.weight;
        }
        // Those who were admitted when there was more stay; nobody new comes beside them.
        if (weight > capacityInStep) {
            world.fail(admission(), record + " was granted, and now too many hold at once: " + held.values());
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
     * A grant has a block, which may be known.
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
        held.remove(record.ref);
    }

    /** All that is present, those that hold first. */
    void forEach(Consumer<ClaimRecord> action) {
        List.copyOf(held.values()).forEach(action);
        List.copyOf(waiting.values()).forEach(action);
    }

    // Questions

    /** Whether a claim waits for what is open. */
    boolean isShutOut(ClaimRecord record, long micros) {
        return latch != null && latch.isOpen() && !record.isOverTimeAt(micros);
    }

    boolean isHeld() {
        return !held.isEmpty();
    }

    int greatestCapacity() {
        return greatestCapacity;
    }

    int smallestCapacity() {
        return smallestCapacity;
    }

    /** The grant that a token was given to, however long ago; null if it never was. */
    @Nullable
    ClaimRecord grantOf(long token) {
        Map.Entry<Long, Block> entry = blocks.floorEntry(token);
        return entry == null || token > entry.getValue().last()
                ? null
                : entry.getValue().grant();
    }

    /** A process that neither holds nor waits has no claim. */
    void checkNothingOf(SimProcess process, long micros) {
        forEach(record -> {
            if (record.session.owner.process() == process && !record.isOverTimeAt(micros)) {
                world.fail(
                        Rule.GIVEN_UP,
                        process + " neither holds nor waits for " + resource + ", but at the store stands " + record);
            }
        });
    }

    /**
     * Looks whether there is room for the live claim that is next: somebody has slept through a wake-up. To be called
     * often while nothing is disturbed.
     *
     * @param boundNanos for how long that may be, in true time
     */
    void checkProgress(long micros, long boundNanos) {
        long taken = 0;
        for (ClaimRecord record : held.values()) {
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
     * The live claim that is next; null if there is none, or its process is dead: it keeps its place for the rest of a
     * ttl.
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
