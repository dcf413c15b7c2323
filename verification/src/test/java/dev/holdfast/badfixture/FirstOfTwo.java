package dev.holdfast.badfixture;

/** Half of a cycle, to show that the rule about cycles can fail. */
public final class FirstOfTwo {

    /** The other half, used by a nested class. */
    public static final class Nested {

        /** There. */
        public SecondOfTwo there = new SecondOfTwo();
    }
}
