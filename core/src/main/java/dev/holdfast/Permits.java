package dev.holdfast;

/**
 * The hold of permits of a semaphore. It belongs to itself, not to a thread: any thread may close it, and a thread that
 * acquires again gets further permits.
 *
 * <p>The token is greater than those of all permits that were granted before. Because several permits are held at the
 * same time, it only orders them; it does not show that older ones have ended.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface Permits extends Hold {

    /** The number of permits. */
    int permits();

    /**
     * The id by which any process can release these permits: {@link DistributedSemaphore#release(String)}. Printable
     * ASCII, never used again, and not secret. Permits whose id was read are released at the store when they are
     * closed, and not handed over to another thread of this process.
     *
     * @throws IllegalStateException if they were closed before the id was first read
     */
    String permitId();
}
