package dev.holdfast.spi;

/**
 * What a resource is. Fixed by its first claim while the resource is in use. A claim that declares another kind is
 * refused, so that programs that disagree about a name notice.
 */
public enum Kind {
    /** One holder. Capacity 1. */
    MUTEX('m'),
    /** Many readers or one writer. Capacity {@link Integer#MAX_VALUE}; a reader weighs 1, a writer all. */
    READ_WRITE('r'),
    /** n permits. Capacity n, weight k. */
    SEMAPHORE('s'),
    /** A count-down to zero; its claims are <em>pass</em> claims of weight 0. */
    LATCH('l'),
    /** A mutex whose grants are the terms of leaders. Capacity 1. */
    ELECTION('e'),
    /** A mutex that is tried and never waited for. Capacity 1. */
    TASK('t');

    private final char code;

    Kind(char code) {
        this.code = code;
    }

    /** The letter by which stores record this kind; it never changes. */
    public char code() {
        return code;
    }

    /**
     * The kind of a recorded letter.
     *
     * @throws IllegalArgumentException if no kind has that code
     */
    public static Kind ofCode(char code) {
        for (Kind kind : values()) {
            if (kind.code == code) {
                return kind;
            }
        }
        throw new IllegalArgumentException("No kind of resource has the code '" + code + "'");
    }
}
