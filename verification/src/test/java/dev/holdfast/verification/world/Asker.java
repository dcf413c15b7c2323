package dev.holdfast.verification.world;

import dev.holdfast.Hold;
import java.util.concurrent.Callable;

/**
 * A thread that asks for something once, and gives it back when it is told to.
 *
 * @param <H> what it asks for
 */
public final class Asker<H extends Hold> {

    private final Actor actor;
    private final Actor.Doing<H> asking;

    private Asker(Actor actor, Actor.Doing<H> asking) {
        this.actor = actor;
        this.asking = asking;
    }

    /** Asks for what is there, and has it. */
    public static <H extends Hold> Asker<H> holding(World world, String name, Callable<H> asking) throws Exception {
        Actor actor = world.actor(name);
        Asker<H> asker = new Asker<>(actor, actor.start(asking));
        asker.awaitGrant();
        return asker;
    }

    /** Asks for what others have; returns when it stands in the queue, so that the order of the queue is known. */
    public static <H extends Hold> Asker<H> waiting(World world, String name, Callable<H> asking) {
        Actor actor = world.actor(name);
        return new Asker<>(actor, actor.startWaiting(asking));
    }

    /** What it was granted. */
    public H awaitGrant() throws Exception {
        return asking.result();
    }

    /** Whether it has not been granted yet, nor failed. */
    public boolean isWaiting() {
        return !asking.isDone();
    }

    /** Gives it back. */
    public void release() throws Exception {
        actor.run(awaitGrant()::close);
    }

    /** Its thread. */
    public Actor actor() {
        return actor;
    }
}
