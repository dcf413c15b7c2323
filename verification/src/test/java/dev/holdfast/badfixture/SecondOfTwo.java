package dev.holdfast.badfixture;

/** The other half of a cycle. */
public final class SecondOfTwo {

    /** And back. */
    public FirstOfTwo[] back = {};
}
