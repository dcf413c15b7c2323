package dev.holdfast.servers.sql;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;

/**
 * A hold with a short lease that was valid when its token was read. On a busy machine the lease may end before that;
 * then the lock is acquired again.
 */
public record GoodHold(Hold hold, long token) {

    private static final int MOST_ATTEMPTS = 20;

    public static GoodHold acquired(Holdfast client, String name) throws InterruptedException {
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            Hold hold = client.lock(name).acquire();
            try {
                return new GoodHold(hold, hold.fencingToken());
            } catch (LockLostException e) {
                end(hold);
            }
        }
        throw new AssertionError("The lease always ends before the token is read");
    }

    /** Releases a hold that may be lost. */
    public static void end(Hold hold) {
        try {
            hold.close();
        } catch (LockLostException e) {
            // The hold has ended anyway.
        }
    }
}
