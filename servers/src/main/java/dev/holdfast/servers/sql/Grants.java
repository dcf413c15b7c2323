package dev.holdfast.servers.sql;

import dev.holdfast.servers.SqlServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The user of the manual: what is tested is what it shows. */
public final class Grants {

    /** One that is given there, and can be taken back. */
    public record Grant(String what, String table, String to) {
        public String revocation() {
            return "REVOKE " + what + " ON " + table + " FROM " + to;
        }

        public String text() {
            return "GRANT " + what + " ON " + table + " TO " + to;
        }
    }

    private static final AtomicInteger USERS = new AtomicInteger();
    private static final Pattern GRANT = Pattern.compile("GRANT (.*) ON (\\S+) TO (\\S+)");

    /** A comma that is not between columns. */
    private static final String COMMA = ", (?![^(]*\\))";

    private final List<String> statements;

    private Grants(List<String> statements) {
        this.statements = statements;
    }

    /**
     * What a file says.
     *
     * @param adminUrl the database, also for the product
     * @param part {@code leases} or {@code rows}
     * @param user who is meant instead of {@code locks}
     * @param prefix what the names of the tables begin with
     */
    public static Grants of(String adminUrl, String part, String user, String prefix) {
        String product = adminUrl.startsWith("jdbc:postgresql:") ? "postgresql" : "mysql";
        Path file = pages().resolve(product + "-" + part + "-grants.sql");
        try {
            return new Grants(Stream.of(
                            Files.readString(file).replaceAll("(?m)^--.*$", "").split(";"))
                    .map(String::strip)
                    .filter(one -> !one.isEmpty())
                    .map(one -> one.replaceAll("\\blocks\\b", user).replace("holdfast_", prefix))
                    .toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The directory of the files, in the checkout above the module that is tested. */
    private static Path pages() {
        Path below = Path.of("docs", "stores");
        for (Path directory = Path.of("").toAbsolutePath(); directory != null; directory = directory.getParent()) {
            if (Files.isDirectory(directory.resolve(below))) {
                return directory.resolve(below);
            }
        }
        throw new IllegalStateException("No directory above this one has " + below);
    }

    /** A name that no other test has. */
    public static String newUser() {
        return "u" + ProcessHandle.current().pid() + "_" + USERS.incrementAndGet();
    }

    /** Makes a new user with these grants in a database, and gives the URL for it. */
    public static String grant(String adminUrl, String part, String prefix) {
        String user = newUser();
        if (adminUrl.startsWith("jdbc:postgresql:")) {
            // Nothing new from version 15 on.
            run(adminUrl, List.of("REVOKE CREATE ON SCHEMA public FROM PUBLIC"));
        }
        run(adminUrl, of(adminUrl, part, user, prefix).statements);
        return asUser(adminUrl, user);
    }

    public static void run(String url, List<String> statements) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            for (String one : statements) {
                statement.execute(one);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** All of it. */
    public List<String> statements() {
        return statements;
    }

    /** Each alone. */
    public List<Grant> each() {
        List<Grant> all = new ArrayList<>();
        for (String statement : statements) {
            Matcher grant = GRANT.matcher(statement);
            if (grant.matches()) {
                for (String what : grant.group(1).split(COMMA, -1)) {
                    all.add(new Grant(what, grant.group(2), grant.group(3)));
                }
            }
        }
        return all;
    }

    /** A URL of {@link SqlServer} for another user. */
    public static String asUser(String adminUrl, String user) {
        return adminUrl.replaceFirst("user=[^&]*", "user=" + user).replaceFirst("&password=[^&]*", "")
                + "&password=change-me";
    }
}
