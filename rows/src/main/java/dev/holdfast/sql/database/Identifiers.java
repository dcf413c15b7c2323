package dev.holdfast.sql.database;

import dev.holdfast.spi.ResourceName;
import java.util.regex.Pattern;

/** Checks names of tables, columns and schemas, which are inserted into statements. */
public final class Identifiers {

    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    private static final Pattern PREFIX = Pattern.compile("[a-z_][a-z0-9_]{0,39}");

    private Identifiers() {}

    /**
     * Returns the name if it may be inserted into a statement.
     *
     * @throws IllegalArgumentException if not
     */
    public static String checked(String identifier) {
        if (!IDENTIFIER.matcher(identifier).matches()) {
            throw new IllegalArgumentException(
                    "A database identifier must have 1 to 63 letters, digits and '_', and must not "
                            + "begin with a digit, but was '"
                            + ResourceName.printable(identifier) + "'");
        }
        return identifier;
    }

    /**
     * Returns a prefix of table names if it is lower case and leaves room for the rest.
     *
     * @throws IllegalArgumentException if not
     */
    public static String checkedPrefix(String prefix) {
        if (!PREFIX.matcher(prefix).matches()) {
            throw new IllegalArgumentException(
                    "A table prefix must have 1 to 40 lower-case letters, digits and '_', and must not "
                            + "begin with a digit, but was '" + ResourceName.printable(prefix) + "'");
        }
        return prefix;
    }
}
