package dev.holdfast.engine.deadlock;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A wait in the graph of one pass, with all that is known of what its thread holds. Used by one pass. */
public final class WaitNode {

    /**
     * A hold of the thread.
     *
     * @param acks what was acknowledged when the hold was stated, as the line of its grant says
     */
    public record HeldName(boolean isWrite, long token, OwnWait.Owner owner, Set<Long> acks) {}

    private final WaitLine line;
    private final @Nullable OwnWait own;
    private final Map<String, HeldName> holds = new LinkedHashMap<>();
    private final Set<Long> acks = new LinkedHashSet<>();

    /** Whether it is stated for the first time; only of this client's own. */
    private final boolean isNew;

    WaitNode(WaitLine line, @Nullable OwnWait own, boolean isNew) {
        this.line = line;
        this.own = own;
        this.isNew = isNew;
    }

    long id() {
        return line.id();
    }

    /** What its client states. */
    public WaitLine line() {
        return line;
    }

    /** The wait of this client; null if it is another's. */
    public @Nullable OwnWait own() {
        return own;
    }

    boolean isNew() {
        return isNew;
    }

    /** The names that it holds. */
    public Map<String, HeldName> holds() {
        return holds;
    }

    /** What any of its lines acknowledges. */
    Set<Long> acks() {
        return acks;
    }
}
