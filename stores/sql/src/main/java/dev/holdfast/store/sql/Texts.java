package dev.holdfast.store.sql;

import java.util.EnumMap;
import java.util.Map;

/** The texts of the statements of one store: those that all have in common, but for what its database says in another way, with its own names of the tables. */
final class Texts {

    /** What the names of all tables begin with, in all texts. */
    private static final String PREFIX = "holdfast_";

    static final Texts OF_SQLITE = new Texts(Map.of(), PREFIX);

    private final Map<Sql, String> texts = new EnumMap<>(Sql.class);
    private final String prefix;

    /**
     * Puts the texts together.
     *
     * @param own what this database says in another way
     * @param prefix what the names of the tables really begin with; checked by the caller
     */
    Texts(Map<Sql, String> own, String prefix) {
        this.prefix = prefix;
        for (Sql sql : Sql.values()) {
            texts.put(sql, of(own.getOrDefault(sql, sql.text)));
        }
    }

    String of(Sql sql) {
        return texts.getOrDefault(sql, sql.text);
    }

    /** A text with the names of the tables as they are here. */
    String of(String text) {
        return prefix.equals(PREFIX) ? text : text.replace(PREFIX, prefix);
    }
}
