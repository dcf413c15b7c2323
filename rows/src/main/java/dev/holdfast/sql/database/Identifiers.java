package dev.holdfast.sql.database;

import dev.holdfast.spi.ResourceName;
import java.util.regex.Pattern;

/** Names of tables, columns and schemas, which stand in statements as they are. */
public final class Identifiers {

    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    private static final Pattern PREFIX = Pattern.compile("[a-z_][a-z0-9_]{0,39}");

    private Identifiers() {}

    /**
     * The name itself, if it can stand in a statement.
     *
     * @throws IllegalArgumentException if it can't
     */
    public static String checked(String identifier) {
        if (!IDENTIFIER.matcher(identifier).matches()) {
            throw new IllegalArgumentException(
                    "A name in a database has 1 to 63 letters, digits and '_' here, and begins with no digit, unlike '"
                            + ResourceName.printable(identifier) + "'");
        }
        return identifier;
    }

    /**
     * What the names of tables are to begin with, if it is lower case and leaves room for the rest.
     *
     * @throws IllegalArgumentException if it is not
     */
    public static String checkedPrefix(String prefix) {
        if (!PREFIX.matcher(prefix).matches()) {
            throw new IllegalArgumentException("A prefix of tables has 1 to 40 lower-case letters, digits and '_', and"
                    + " begins with no digit, unlike '" + ResourceName.printable(prefix) + "'");
        }
        return prefix;
    }
}
