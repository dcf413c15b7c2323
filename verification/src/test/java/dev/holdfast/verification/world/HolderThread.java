package dev.holdfast.verification.world;

import dev.holdfast.Hold;
import java.util.concurrent.Callable;

/**
 * A thread that acquires something once, and releases it on request.
 *
 * @param <H> the kind of hold
 */
public final class HolderThread<H extends Hold> {

    private final Actor actor;
    private final Actor.Doing<H> asking;

    private HolderThread(Actor actor, Actor.Doing<H> asking) {
        this.actor = actor;
        this.asking = asking;
    }

    /** Asks for what is there, and has it. */
    public static <H extends Hold> HolderThread<H> holding(World world, String name, Callable<H> asking)
            throws Exception {
        Actor actor = world.actor(name);
        HolderThread<H> holderThread = new HolderThread<>(actor, actor.start(asking));
        holderThread.awaitGrant();
        return holderThread;
    }

    /** Asks for what others have; returns when it stands in the queue, so that the order of the queue is known. */
    public static <H extends Hold> HolderThread<H> waiting(World world, String name, Callable<H> asking) {
        Actor actor = world.actor(name);
        return new HolderThread<>(actor, actor.startWaiting(asking));
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
