package dev.holdfast.store.sqlite;

import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.ledger.table.StatementCache;
import dev.holdfast.store.sqlite.process.HostIdentity;
import dev.holdfast.store.sqlite.process.ProcFs;
import dev.holdfast.store.sqlite.process.ProcFs.Incarnation;
import dev.holdfast.store.sqlite.process.ProcFs.State;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rows of the store instances: which processes each has, and whether they have ended.
 *
 * <p>A process counts as ended only with evidence: the row's process numbers are from our namespaces, the process would
 * be visible here, and it is missing or its number belongs to a process that started at another time. In all other
 * cases the lease decides.
 *
 * <p>Used by the one thread that owns the lane.
 */
final class SqliteClients {

    /** What the end of the process means for its holds. */
    enum Rule {
        /** They are free. */
        THIS_PROCESS(0),
        /** Nothing; only the lease ends them. */
        LEASE_ONLY(1),
        /** They are free when all followed and all marked processes have ended too. */
        ALL_THAT_FOLLOW(2);

        private final int code;

        Rule(int code) {
            this.code = code;
        }

        /** A rule of a newer version is unknown here, so the lease decides. */
        private static Rule of(int code) {
            return code == THIS_PROCESS.code
                    ? THIS_PROCESS
                    : code == ALL_THAT_FOLLOW.code ? ALL_THAT_FOLLOW : LEASE_ONLY;
        }
    }

    /** The row of one store instance. */
    private record Client(
            Incarnation process,
            String pidNamespace,
            String timeNamespace,
            String user,
            Rule rule,
            List<Incarnation> followed) {}

    /** A process that was alive this recently is not checked again, because a batch may need it many times. */
    private static final long FRESH_NANOS = 5_000_000;

    private static final int MAX_REMEMBERED = 1_024;

    private final StatementCache statements;
    private final HostIdentity host;
    private final ProcFs proc;
    private final long own;
    private final Map<Long, Long> seenAtNanos = new HashMap<>();
    private final Map<Long, Incarnation> marked = new HashMap<>();
    private Rule ownRule = Rule.THIS_PROCESS;
    private volatile List<Incarnation> ownFollowed = List.of();

    SqliteClients(StatementCache statements, HostIdentity host, ProcFs proc, long own) {
        this.statements = statements;
        this.host = host;
        this.proc = proc;
        this.own = own;
    }

    /** The mark in the environment of the descendants of a store instance's hold. */
    static String markOf(long client) {
        return "h" + Long.toHexString(client);
    }

    // Our own row

    /** Inserts the row of our own instance, with the first session that it opens. */
    void addOwn() throws SQLException {
        if (read(own) == null) {
            StatementCache.changeOne(statements.bound(
                    "INSERT INTO holdfast_client"
                            + " (id, pid, started, pid_namespace, time_namespace, user, rule, followed)"
                            + " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    own,
                    host.self().pid(),
                    host.self().started(),
                    host.pidNamespace(),
                    host.timeNamespace(),
                    host.user(),
                    ownRule.code,
                    text(ownFollowed)));
        }
    }

    /** Sets the rule of our own instance, in its row or for the row to be inserted. */
    void record(Rule rule, List<Incarnation> followed) throws SQLException {
        ownRule = rule;
        ownFollowed = List.copyOf(followed);
        statements
                .bound("UPDATE holdfast_client SET rule = ?, followed = ? WHERE id = ?", rule.code, text(followed), own)
                .executeUpdate();
    }

    /** Deletes the row of a store instance without sessions, which would insert it again. */
    void dropIfUnused(long client) throws SQLException {
        statements
                .bound(
                        "DELETE FROM holdfast_client WHERE id = ?1"
                                + " AND NOT EXISTS (SELECT 1 FROM holdfast_session WHERE client = ?1)",
                        client)
                .executeUpdate();
    }

    /** The followed processes. May be called by any thread. */
    List<Incarnation> ownFollowed() {
        return ownFollowed;
    }

    /** The text that identifies our own process, for {@link #hasEnded}. */
    String owner() {
        return String.join(
                "\n",
                Long.toString(host.self().pid()),
                Long.toString(host.self().started()),
                host.pidNamespace(),
                host.timeNamespace(),
                host.user());
    }

    // The others

    /** Whether a process, identified by {@link #owner}, has certainly ended. May be called by any thread. */
    boolean hasEnded(String owner) {
        String[] parts = owner.split("\n", -1);
        try {
            Incarnation process = new Incarnation(Long.parseLong(parts[0]), Long.parseLong(parts[1]));
            Client client = new Client(process, parts[2], parts[3], parts[4], Rule.THIS_PROCESS, List.of());
            return isComparable(client) && isGone(process, client);
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException notWrittenByUs) {
            return false;
        }
    }

    boolean isGone(long client) throws SQLException {
        long now = SystemClock.nanoTime();
        Long seen = seenAtNanos.get(client);
        if (seen != null && now - seen < FRESH_NANOS) {
            return false;
        }
        Client row = read(client);
        if (row != null && isGone(client, row)) {
            seenAtNanos.remove(client);
            return true;
        }
        if (seenAtNanos.size() >= MAX_REMEMBERED) {
            seenAtNanos.clear();
            marked.clear();
        }
        seenAtNanos.put(client, now);
        return false;
    }

    private boolean isGone(long client, Client row) {
        if (!isComparable(row) || row.rule() == Rule.LEASE_ONLY || !isGone(row.process(), row)) {
            return false;
        }
        if (row.rule() == Rule.THIS_PROCESS) {
            return true;
        }
        return row.followed().stream().allMatch(process -> isGone(process, row)) && !isAnyMarked(client, row);
    }

    private boolean isComparable(Client row) {
        return host.observes()
                && row.pidNamespace().equals(host.pidNamespace())
                && row.timeNamespace().equals(host.timeNamespace());
    }

    private boolean isGone(Incarnation process, Client row) {
        boolean visible = !host.hidesOthers() || row.user().equals(host.user());
        return proc.stateOf(process, visible) == State.GONE;
    }

    private boolean isAnyMarked(long client, Client row) {
        Incarnation last = marked.get(client);
        if (last != null && !isGone(last, row)) {
            return true;
        }
        // Twice, because one search may miss a process that is created while its parent ends.
        for (int attempt = 0; attempt < 2; attempt++) {
            ProcFs.Marked search = proc.findMarked(Presence.VARIABLE, markOf(client), 1);
            search.found().forEach(found -> marked.put(client, found));
            if (!search.isNone()) {
                return true;
            }
        }
        marked.remove(client);
        return false;
    }

    private @Nullable Client read(long client) throws SQLException {
        PreparedStatement query =
                statements.prepare("SELECT pid, started, pid_namespace, time_namespace, user, rule, followed"
                        + " FROM holdfast_client WHERE id = ?");
        query.setLong(1, client);
        try (ResultSet row = query.executeQuery()) {
            if (!row.next()) {
                return null;
            }
            return new Client(
                    new Incarnation(row.getLong(1), row.getLong(2)),
                    row.getString(3),
                    row.getString(4),
                    row.getString(5),
                    Rule.of(row.getInt(6)),
                    followed(row.getString(7)));
        }
    }

    private static String text(List<Incarnation> processes) {
        StringBuilder text = new StringBuilder();
        for (Incarnation process : processes) {
            text.append(text.isEmpty() ? "" : ",")
                    .append(process.pid())
                    .append(':')
                    .append(process.started());
        }
        return text.toString();
    }

    private static List<Incarnation> followed(String text) {
        List<Incarnation> processes = new ArrayList<>();
        for (String process : text.isEmpty() ? new String[0] : text.split(",", -1)) {
            int colon = process.indexOf(':');
            processes.add(new Incarnation(
                    Long.parseLong(process.substring(0, colon)), Long.parseLong(process.substring(colon + 1))));
        }
        return processes;
    }
}
