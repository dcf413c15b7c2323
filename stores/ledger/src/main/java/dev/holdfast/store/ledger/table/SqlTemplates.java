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
     * The placeholder for a table, which is its usual name, and the same for an index, which is made in the schema of
     * its table and named without it. Neither a part of a longer name, nor a name behind a schema, nor a variable is
     * one.
     */
    private static final Pattern NAME =
            Pattern.compile("(INDEX (?:IF NOT EXISTS )?)?(?<![\\w.@])" + PREFIX + "(?=\\w)");

    static final SqlTemplates OF_SQLITE = new SqlTemplates(Map.of(), PREFIX);

    private final Map<SqlTemplate, String> templates = new EnumMap<>(SqlTemplate.class);
    private final String schema;
    private final String prefix;
    private final String qualified;

    /** Texts with tables that are found without a schema. */
    public SqlTemplates(Map<SqlTemplate, String> own, String prefix) {
        this(own, "", prefix, "");
    }

    /**
     * Puts the texts together.
     *
     * @param own what this database says in another way
     * @param schema where the tables are, any text; empty for where names without a schema are found
     * @param prefix what the names of the tables really begin with; checked by the caller
     * @param quote what stands around an identifier
     */
    public SqlTemplates(Map<SqlTemplate, String> own, String schema, String prefix, String quote) {
        this.schema = schema;
        this.prefix = prefix;
        this.qualified =
                schema.isEmpty() ? prefix : quote + schema.replace(quote, quote + quote) + quote + "." + prefix;
        for (SqlTemplate sql : SqlTemplate.values()) {
            templates.put(sql, of(own.getOrDefault(sql, sql.text)));
        }
    }

    /** Where the tables are; empty for where names without a schema are found. */
    public String schema() {
        return schema;
    }

    public String of(SqlTemplate sql) {
        return templates.getOrDefault(sql, sql.text);
    }

    /**
     * A text with the names of the tables as they are here. All placeholders are filled in one pass: what was filled in
     * is not read again.
     */
    public String of(String text) {
        return qualified.equals(PREFIX) ? text : NAME.matcher(text).replaceAll(this::filledIn);
    }

    private String filledIn(MatchResult placeholder) {
        String index = placeholder.group(1);
        return Matcher.quoteReplacement(index == null ? qualified : index + prefix);
    }

    /** The name of a table as the catalogue knows it, from its usual name. */
    public String bare(String table) {
        return prefix + table.substring(PREFIX.length());
    }
}
