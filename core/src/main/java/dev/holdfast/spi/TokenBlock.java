package dev.holdfast.spi;

/**
 * A range of fencing tokens that belongs to one grant.
 *
 * @param first the smallest token; greater than every token of this resource that was reserved before
 * @param last the greatest token; at least {@code first}
 */
public record TokenBlock(long first, long last) {

    /** The most tokens that a command requests. */
    public static final int MAX_SIZE = 16_384;

    /** The largest token: a double represents it exactly, so that tokens survive JSON and Lua. */
    public static final long MAX_TOKEN = (1L << 53) - 1;

    /**
     * Checks the bounds.
     *
     * @throws IllegalArgumentException if the block is empty or not positive
     */
    public TokenBlock {
        if (first <= 0 || last < first) {
            throw new IllegalArgumentException("Not a valid block of tokens: " + first + " to " + last);
        }
    }

    /** The number of tokens. */
    public long size() {
        return last - first + 1;
    }
}
