package dev.holdfast.store.memory;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.Signal;
import java.util.List;

/**
 * The executable specification of a store: a state machine that answers each command from the state, the command and
 * the time, and from nothing else. Two machines that are given the same commands at the same times answer the same.
 *
 * <p>Each step first ends everything whose time has come, in the whole store, and admits who can go on; {@link #expire}
 * does that alone. A store may do it later, at the latest in the next command that looks at the resource or the
 * session: but for the values of tokens and the moment of signals nobody can tell.
 *
 * <p>Time may go back: leases then last longer, and what has ended stays ended.
 *
 * <p><b>Thread-safety:</b> none; {@link ReferenceStore} adds it.
 */
public final class ReferenceMachine {

    private final State state;
    private final CommandExecutor executor;

    /** Makes an empty store. */
    public ReferenceMachine() {
        this(new State());
    }

    /** Makes an empty store that keeps sessions in partitions. */
    public ReferenceMachine(int partitions) {
        this(new State(partitions));
    }

    ReferenceMachine(State state) {
        this.state = state;
        this.executor = new CommandExecutor(state);
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
     * What came of a step.
     *
     * @param reply the answer to the command
     * @param signals what a store that pushes tells, in order; each goes to the client whose session it names
     */
    public record Outcome(Reply reply, List<Signal> signals) {}

    /**
     * Carries out one command.
     *
     * @param unixMicros the store's clock, in microseconds since 1970
     */
    public Outcome apply(Command command, long unixMicros) {
        state.begin(unixMicros);
        Reply reply = command.accept(executor);
        return new Outcome(reply, state.takeSignals());
    }

    /** Ends everything whose time has come, and admits who can go on; returns what a store that pushes tells. */
    public List<Signal> expire(long unixMicros) {
        state.begin(unixMicros);
        return state.takeSignals();
    }
}
