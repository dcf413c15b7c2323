package dev.holdfast.store.memory;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.Signal;
import java.util.List;

/**
 * The executable specification of a store: a state machine whose reply depends on the state, the command and the time,
 * and on nothing else. Two machines that get the same commands at the same times return the same replies.
 *
 * <p>Each step first ends everything that has expired, in the whole store, and grants the claims that then fit;
 * {@link #expire} does only that. A store may do it later, at the latest in the next command on that resource or
 * session: only the values of tokens and the times of signals show the difference.
 *
 * <p>Time may go back: leases then last longer, and what has ended stays ended.
 *
 * <p><b>Thread-safety:</b> none; {@link ReferenceStore} adds it.
 */
public final class ReferenceMachine {

    private final State state;
    private final ReferenceExecutor executor;

    /** Makes an empty store. */
    public ReferenceMachine() {
        this(new State());
    }

    /** Makes an empty store with partitioned sessions. */
    public ReferenceMachine(int partitions) {
        this(new State(partitions));
    }

    ReferenceMachine(State state) {
        this.state = state;
        this.executor = new ReferenceExecutor(state);
    }

    /** As {@link dev.holdfast.spi.LockStore#partitions()}. */
    public int partitions() {
        return state.partitions();
    }

    /** As {@link dev.holdfast.spi.LockStore#partitionOf}. */
    public int partitionOf(ResourceName name) {
        return state.partitionOf(name);
    }

    /**
     * The result of a step.
     *
     * @param reply the reply to the command
     * @param signals the signals of a store that pushes, in order; each goes to the client whose session it names
     */
    public record Outcome(Reply reply, List<Signal> signals) {}

    /**
     * Executes one command.
     *
     * @param unixMicros the store's clock, in microseconds since 1970
     */
    public Outcome apply(Command command, long unixMicros) {
        state.begin(unixMicros);
        Reply reply = command.accept(executor);
        return new Outcome(reply, state.takeSignals());
    }

    /**
     * Ends everything that has expired, and grants the claims that then fit; returns the signals of a store that
     * pushes.
     */
    public List<Signal> expire(long unixMicros) {
        state.begin(unixMicros);
        return state.takeSignals();
    }
}
