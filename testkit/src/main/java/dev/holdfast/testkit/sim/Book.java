package dev.holdfast.testkit.sim;

import dev.holdfast.spi.ClaimRef;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What the {@link Ledger} has written down about one resource: who holds it, who waits, and which tokens were given. */
final class Book {

    /** A run of tokens that was given to a grant. */
    private record Block(long last, ClaimRecord grant) {}

    private final World world;
    private final String resource;
    private final Map<ClaimRef, ClaimRecord> waiting = new LinkedHashMap<>();
    private final Map<ClaimRef, ClaimRecord> held = new LinkedHashMap<>();
    /** Every block that there was, by its first token. */
    private final NavigableMap<Long, Block> blocks = new TreeMap<>();

    private long newestToken;
    private long freeSince = Long.MAX_VALUE;

    Book(World world, String resource) {
        this.world = world;
        this.resource = resource;
    }

    // What happens

    void queue(ClaimRecord record) {
        waiting.put(record.ref, record);
    }

    /** A claim that waited, if only in this very step, is granted. */
    void grant(ClaimRecord record, boolean isFair, long micros) {
        waiting.remove(record.ref);
        if (record.isOverTimeAt(micros)) {
            world.fail(Rule.NO_REVIVAL, "the store granted " + record + ", whose session had ended");
        }
        if (isFair) {
            for (ClaimRecord other : waiting.values()) {
                if (other.place < record.place && !other.session.isDeadAt(micros)) {
                    world.fail(Rule.IN_ORDER, record + " was granted before " + other);
                }
            }
        }
        held.put(record.ref, record);
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

    boolean isHeld() {
        return !held.isEmpty();
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
     * Looks whether the resource is free while a live claim waits for it: somebody has slept through a wake-up. To be
     * called often while nothing is disturbed.
     *
     * @param boundNanos for how long that may be, in true time
     */
    void checkProgress(long micros, long boundNanos) {
        boolean isFree = held.values().stream().allMatch(record -> record.isOverTimeAt(micros));
        boolean isWanted = waiting.values().stream()
                .anyMatch(record -> !record.isOverTimeAt(micros)
                        && !record.session.owner.process().isDead());
        if (!isFree || !isWanted) {
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
}
