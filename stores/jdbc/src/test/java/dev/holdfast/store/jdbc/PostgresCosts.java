package dev.holdfast.store.jdbc;

import dev.holdfast.servers.PostgresServer;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The plans of the statements that a PostgreSQL server has executed, from its log. */
final class PostgresCosts implements StatementCosts {

    private static final String PLAN = "  plan:";
    private static final Pattern TEXT =
            Pattern.compile("Query Text: (.*?)\\n(?:Query Parameters: .*?\\n)?(?=[^\\n]*\\(cost=)", Pattern.DOTALL);
    private static final Pattern ROOT = Pattern.compile("\\(cost=[0-9.]+\\.\\.([0-9.]+) ");

    /** A plan node that reads a table, and its number of loops. */
    private static final Pattern STEP =
            Pattern.compile("(Seq Scan|Index Scan|Index Only Scan|Bitmap Heap Scan|Tid Scan)"
                    + ".* on (holdfast_\\w+).*\\(actual rows=([0-9.]+) loops=([0-9]+)\\)");

    private static final Pattern REMOVED = Pattern.compile("Rows Removed by (?:Filter|Index Recheck): ([0-9.]+)");

    private final PostgresServer server;
    private int seen;

    /** Reads the log of a server that logs its plans, see {@link #start}. */
    PostgresCosts(PostgresServer server) {
        this.server = server;
    }

    /** A server that logs every plan. */
    static PostgresServer start() {
        return PostgresServer.builder()
                .option("session_preload_libraries", "auto_explain")
                .option("auto_explain.log_min_duration", "0")
                .option("auto_explain.log_analyze", "on")
                .option("auto_explain.log_timing", "off")
                .start();
    }

    @Override
    public List<StatementCost> next() {
        List<StatementCost> costs = new ArrayList<>();
        StringBuilder plan = null;
        for (String line : unread()) {
            if (plan != null && line.startsWith("\t")) {
                plan.append(line.substring(1)).append('\n');
                continue;
            }
            add(plan, costs);
            plan = line.endsWith(PLAN) ? new StringBuilder() : null;
        }
        add(plan, costs);
        return costs;
    }

    /** The lines since the last call, up to one written now: what another client causes meanwhile may be cut. */
    private List<String> unread() {
        String mark = "read up to line " + seen;
        server.execute("DO $$ BEGIN RAISE LOG '" + mark + "'; END $$");
        List<String> lines = server.process().logged("");
        int end = lines.size() - 1;
        while (!lines.get(end).endsWith(mark)) {
            end--; // an earlier test may have written the same mark
        }
        List<String> unread = lines.subList(seen, end);
        seen = end + 1;
        return unread;
    }

    private static void add(StringBuilder plan, List<StatementCost> costs) {
        if (plan == null) {
            return;
        }
        Matcher text = TEXT.matcher(plan);
        if (!text.find()) {
            throw new IllegalStateException("No statement in the plan " + plan);
        }
        costs.add(cost(text.group(1), plan.substring(text.end())));
    }

    private static StatementCost cost(String text, String plan) {
        Matcher root = ROOT.matcher(plan);
        if (!root.find()) {
            throw new IllegalStateException("No cost in the plan " + plan);
        }
        double rows = 0;
        double loops = 0;
        List<String> scanned = new ArrayList<>();
        for (String line : plan.split("\n")) {
            Matcher step = STEP.matcher(line);
            Matcher removed = REMOVED.matcher(line);
            if (line.contains("(cost=")) {
                loops = 0; // the following lines belong to this node
            }
            if (step.find()) {
                loops = Double.parseDouble(step.group(4));
                rows += Double.parseDouble(step.group(3)) * loops;
                if (step.group(1).startsWith("Seq")) {
                    scanned.add(step.group(2));
                }
            } else if (removed.find()) {
                rows += Double.parseDouble(removed.group(1)) * loops;
            }
        }
        return new StatementCost(
                text, (long) rows, scanned, Double.parseDouble(root.group(1)), plan.contains("\nJIT:"), plan);
    }
}
