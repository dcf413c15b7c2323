package dev.holdfast.store.ledger.table;

import java.util.EnumMap;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Texts of the statements of one store: the common ones, but for what its database says in another way, with the
 * store's own names of the tables.
 */
public final class SqlTemplates {

    /** What the names of all tables begin with, in all texts. */
    private static final String PREFIX = "holdfast_";

    /**
     * The placeholder for a table, which is its default name, and the same for an index, which is created in the schema
     * of its table and named without it. Neither a part of a longer name, nor a name behind a schema, nor a variable is
     * one.
     */
    private static final Pattern NAME =
            Pattern.compile("(INDEX (?:IF NOT EXISTS )?)?(?<![\\w.@])" + PREFIX + "(?=\\w)");

    static final SqlTemplates OF_SQLITE = new SqlTemplates(Map.of(), PREFIX);

    private final Map<SqlTemplate, String> templates;
    private final String schema;
    private final String prefix;
    private final String qualified;
    private final String limitation;

    /** Templates with table names that need no schema. */
    public SqlTemplates(Map<SqlTemplate, String> own, String prefix) {
        this(own, "", prefix, "");
    }

    /**
     * Builds the statements.
     *
     * @param own the statements that differ on this database
     * @param schema the schema of the tables, any text; empty for the default schema
     * @param prefix the actual prefix of the table names, checked by the caller
     * @param quote the quotation mark of identifiers
     */
    public SqlTemplates(Map<SqlTemplate, String> own, String schema, String prefix, String quote) {
        this.templates = new EnumMap<>(SqlTemplate.class);
        this.schema = schema;
        this.prefix = prefix;
        this.limitation = "";
        this.qualified =
                schema.isEmpty() ? prefix : quote + schema.replace(quote, quote + quote) + quote + "." + prefix;
        for (SqlTemplate sql : SqlTemplate.values()) {
            templates.put(sql, of(own.getOrDefault(sql, sql.text)));
        }
    }

    private SqlTemplates(SqlTemplates complete, String limitation) {
        this.templates = complete.templates;
        this.schema = complete.schema;
        this.prefix = complete.prefix;
        this.qualified = complete.qualified;
        this.limitation = limitation;
    }

    /**
     * The same for tables of version 1.0, which have neither annotations nor runs of tasks.
     *
     * @param reason a sentence for people, with the remedy
     */
    public SqlTemplates limited(String reason) {
        return new SqlTemplates(this, reason);
    }

    /** Why there are no tables of annotations and runs; empty if there are. */
    public String limitation() {
        return limitation;
    }

    /** The schema of the tables; empty for the default schema. */
    public String schema() {
        return schema;
    }

    public String of(SqlTemplate sql) {
        return templates.getOrDefault(sql, sql.text);
    }

    /**
     * Inserts the actual table names into a text. All placeholders are replaced in one pass, so inserted text is not
     * scanned again.
     */
    public String of(String text) {
        return qualified.equals(PREFIX) ? text : NAME.matcher(text).replaceAll(this::filledIn);
    }

    private String filledIn(MatchResult placeholder) {
        String index = placeholder.group(1);
        return Matcher.quoteReplacement(index == null ? qualified : index + prefix);
    }

    /** The name of a table in the catalogue, from its default name. */
    public String bare(String table) {
        return prefix + table.substring(PREFIX.length());
    }
}
