package dev.holdfast.testkit.sim;

import java.util.List;

/**
 * The random numbers of one part of a run. Each part has its own sequence, so that one more number in one part does
 * not change the others.
 *
 * <p>The generator is SplitMix64: no lock, no allocation, and seed 1 is as good as any other.
 */
final class SeededRandom {

    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private long state;

    SeededRandom(long seed) {
        this.state = mix(seed + GOLDEN);
    }

    /** A sequence for another part. */
    SeededRandom fork() {
        return new SeededRandom(next());
    }

    long next() {
        state += GOLDEN;
        return mix(state);
    }

    /** A number from 0 to {@code bound - 1}. */
    int below(int bound) {
        return (int) Math.floorMod(next(), (long) bound);
    }

    /** A number from {@code low} to {@code high}, both included. */
    long between(long low, long high) {
        return low + Math.floorMod(next(), high - low + 1);
    }

    /** True with the given probability. */
    boolean chance(double probability) {
        return (next() >>> 11) * 0x1.0p-53 < probability;
    }

    /**
     * A duration whose logarithm is evenly distributed between those of the bounds: mostly short, sometimes very long.
     */
    long heavyTail(long low, long high) {
        double part = (next() >>> 11) * 0x1.0p-53;
        return (long) (low * Math.pow((double) high / low, part));
    }

    /** One of the numbers. */
    long oneOf(long... numbers) {
        return numbers[below(numbers.length)];
    }

    /** One of several values, all equally likely. */
    <T> T oneOf(List<T> several) {
        return several.get(below(several.size()));
    }

    static long mix(long z) {
        long a = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        long b = (a ^ (a >>> 27)) * 0x94D049BB133111EBL;
        return b ^ (b >>> 31);
    }
}
