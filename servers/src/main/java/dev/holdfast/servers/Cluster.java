package dev.holdfast.servers;

import dev.holdfast.servers.FaultProxy.Direction;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Servers that elect a leader and agree by majority, and what may befall one of them. */
public interface Cluster<M extends Member> extends AutoCloseable {

    /** The members. */
    List<M> members();

    /** The member that leads; waits until there is one. */
    M leader();

    /**
     * Swallows what members tell each other, without a word to either; clients reach all of them still.
     *
     * @param ways what is lost: what the others tell this member, {@link Direction#TO_SERVER}, or what it tells them
     */
    void swallow(M member, Set<Direction> ways);

    /** Cuts a member off from the others, as {@link #swallow} does both ways. */
    default void isolate(M member) {
        swallow(member, EnumSet.allOf(Direction.class));
    }

    /** Lets all members reach each other again. */
    void heal();

    /** Replaces a member that does not lead by a new one without data, while the others serve. */
    void replace(M member);

    /**
     * Takes back what befell members: lets all reach each other, starts those again that were ended or have a full
     * disk, and returns when all serve.
     */
    void restore();

    @Override
    void close();
}
