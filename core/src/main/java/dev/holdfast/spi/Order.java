package dev.holdfast.spi;

/** In which order a resource admits claims. Fixed, like its {@link Kind}, by the first claim. */
public enum Order {
    /** First in, first out: nobody is admitted while a live waiter stands before it. */
    FAIR,
    /** A claim may be granted past the queue when there is room: leave, not duty. */
    BARGING
}
