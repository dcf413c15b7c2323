package dev.holdfast.servers;

import dev.holdfast.servers.FaultProxy.Direction;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Servers that elect a leader and agree by majority, with faults for each of them. */
public interface Cluster<M extends Member> extends AutoCloseable {

    /** The members. */
    List<M> members();

    /** The leader; waits until there is one. */
    M leader();

    /**
     * Silently drops messages between members; clients still reach all of them.
     *
     * @param ways the messages to drop: those of the others to this member, {@link Direction#TO_SERVER}, or its own
     */
    void swallow(M member, Set<Direction> ways);

    /** Cuts a member off from the others: {@link #swallow} in both directions. */
    default void isolate(M member) {
        swallow(member, EnumSet.allOf(Direction.class));
    }

    /** Lets all members reach each other again. */
    void heal();

    /** Replaces a follower by a new member without data, while the others serve. */
    void replace(M member);

    /**
     * Ends all faults: heals the networks, restarts members that are stopped or have a full disk, and returns when all
     * serve.
     */
    void restore();

    @Override
    void close();
}
