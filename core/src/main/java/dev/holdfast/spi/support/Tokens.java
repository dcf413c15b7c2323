package dev.holdfast.spi.support;

import dev.holdfast.spi.TokenBlock;

/**
 * The token rule of stores that count tokens themselves: tokens follow the store's clock, so they keep increasing even
 * if a counter was lost in a fail-over or restored from a backup.
 *
 * <p>{@code first = max(last + 1, floor(micros × 1.024))}, and a block ends at most {@value #LEAD_MICROS} µs
 * ahead of the clock. One counter thus yields about a million tokens a second, and stays below 2<sup>53</sup> until the
 * year 2248.
 */
public final class Tokens {

    /** How far ahead of the store's clock a block may end; a lost counter may have been that far. */
    public static final long LEAD_MICROS = 16_000;

    /** The size of a block while the counter runs ahead of the clock, after a step back or a raise. */
    public static final int CATCH_UP_BLOCK = 256;

    private static final long AHEAD_MICROS = 1_000_000;

    private Tokens() {}

    /**
     * Reserves the next block.
     *
     * @param last the end of the newest block of this counter, 0 if there was none
     * @param unixMicros the store's clock, in microseconds since 1970
     * @param want how many tokens are requested, 1 to {@value TokenBlock#MAX_SIZE}
     * @return a block of 1 to {@code want} tokens
     * @throws IllegalArgumentException if {@code want} is out of range
     * @throws IllegalStateException if the counter is used up; nothing may be granted then
     */
    public static TokenBlock next(long last, long unixMicros, int want) {
        if (want < 1 || want > TokenBlock.MAX_SIZE) {
            throw new IllegalArgumentException(
                    "A block must have 1 to " + TokenBlock.MAX_SIZE + " tokens, but " + want + " were requested");
        }
        long first = Math.max(last + 1, floor(unixMicros));
        if (last < 0 || last >= TokenBlock.MAX_TOKEN || first > TokenBlock.MAX_TOKEN) {
            throw new IllegalStateException("The token counter is exhausted or corrupt: its last value is " + last);
        }
        long end = last > floor(unixMicros + AHEAD_MICROS)
                ? first + Math.min(want, CATCH_UP_BLOCK) - 1
                : Math.min(first + want - 1, floor(unixMicros + LEAD_MICROS));
        return new TokenBlock(first, Math.min(Math.max(first, end), TokenBlock.MAX_TOKEN));
    }

    /** The smallest token that the clock allows. */
    public static long floor(long unixMicros) {
        return unixMicros / 125 * 128 + unixMicros % 125 * 128 / 125;
    }

    /** The approximate time at which a token was the smallest that the clock allowed, in microseconds since 1970. */
    public static long micros(long token) {
        return token / 128 * 125 + token % 128 * 125 / 128;
    }
}
