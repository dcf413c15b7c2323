package dev.holdfast;

/**
 * What its owner has in hand while it has permits of a semaphore. It belongs to nobody but itself: any thread may close
 * it, and who acquires again gets others.
 *
 * <p>The token is greater than those of all permits that were granted before; permits stand beside each other, so it
 * orders them, and does not tell that older ones are gone.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface Permits extends Hold {

    /** How many there are. */
    int permits();

    /**
     * The id by which any process can release these permits: {@link DistributedSemaphore#release(String)}. Printable
     * ASCII, never used again, and no secret. Permits whose id was asked for go back to the store when they are closed,
     * and to no other thread of this process.
     *
     * @throws IllegalStateException if they were closed before anybody asked
     */
    String permitId();
}
