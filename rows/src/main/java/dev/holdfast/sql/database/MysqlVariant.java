package dev.holdfast.sql.database;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server with MySQL's protocol, detected independently of the driver: MySQL's driver calls MariaDB "MySQL".
 *
 * @param version without the prefix with which MariaDB before 11 greets its clients
 */
public record MysqlVariant(boolean isMariaDb, String version, int major, int minor) {

    /** Old clients and replicas expect a MySQL; no server of that version is left. */
    private static final Pattern GREETING = Pattern.compile("^5\\.5\\.5-(?=\\d+\\.)");

    private static final Pattern NUMBERS = Pattern.compile("(\\d+)\\.(\\d+)");

    /** The product's name. */
    public String name() {
        return isMariaDb ? "MariaDB" : "MySQL";
    }

    /** The variable of the transaction isolation: MariaDB uses MySQL's name from 11.1 on. */
    public String isolationVariable() {
        boolean isOlder = isMariaDb && (major < 11 || (major == 11 && minor < 1));
        return isOlder ? "tx_isolation" : "transaction_isolation";
    }

    /** Whether a product name from a driver is that of such a server. */
    public static boolean isNamed(String product) {
        return product.equalsIgnoreCase("MySQL") || product.equalsIgnoreCase("MariaDB");
    }

    /**
     * The server that a driver or the server itself describes.
     *
     * @param product its name, by the driver
     * @param version from its greeting, or from {@code SELECT VERSION()}
     */
    public static MysqlVariant of(String product, String version) {
        Matcher greeting = GREETING.matcher(version);
        boolean isGreeting = greeting.find();
        String bare = isGreeting ? version.substring(greeting.end()) : version;
        Matcher numbers = NUMBERS.matcher(bare);
        boolean isNumbered = numbers.lookingAt();
        return new MysqlVariant(
                isGreeting || (product + version).toLowerCase(Locale.ROOT).contains("mariadb"),
                bare,
                isNumbered ? Integer.parseInt(numbers.group(1)) : 0,
                isNumbered ? Integer.parseInt(numbers.group(2)) : 0);
    }
}
