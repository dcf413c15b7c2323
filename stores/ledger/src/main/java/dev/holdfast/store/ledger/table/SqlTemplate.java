package dev.holdfast.store.ledger.table;

/** Statements on rows, in the SQL common to all dialects, with the default table names. */
public enum SqlTemplate {
    RESOURCE("""
            SELECT spec, capacity, last_token, session, claim, weight, first_token, end_token, ends, seq,
                   grants, shared, waiters, places
              FROM holdfast_resource WHERE name = ?"""),

    ADD_RESOURCE("""
            INSERT INTO holdfast_resource (spec, capacity, last_token, session, claim, weight, first_token, end_token,
                   ends, seq, grants, shared, waiters, places, name)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""),

    SAVE_RESOURCE("""
            UPDATE holdfast_resource
               SET spec = ?, capacity = ?, last_token = ?, session = ?, claim = ?, weight = ?, first_token = ?,
                   end_token = ?, ends = ?, seq = ?, grants = ?, shared = ?, waiters = ?, places = ?
             WHERE name = ?"""),

    /** The resources with waiters whose inline grant belongs to a session. */
    CONTENDED("SELECT name FROM holdfast_resource WHERE session = ? AND waiters > 0"),

    /** A page of the resources that are in use or were latches, by name. */
    IN_USE("""
            SELECT spec, capacity, last_token, session, claim, weight, first_token, end_token, ends, seq,
                   grants, shared, waiters, places, name
              FROM holdfast_resource
             WHERE name >= ? AND name < ?
               AND (session IN (SELECT id FROM holdfast_session) OR grants > 0 OR waiters > 0 OR spec % 256 = 108)
             ORDER BY name LIMIT ?"""),

    /** A page of the resources with waiters, by name. */
    WAITED("""
            SELECT spec, capacity, last_token, session, claim, weight, first_token, end_token, ends, seq,
                   grants, shared, waiters, places, name
              FROM holdfast_resource WHERE name >= ? AND name < ? AND waiters > 0 ORDER BY name LIMIT ?"""),

    /** A page of the inline grants of a session, by name; it scans all rows. */
    INLINE("SELECT name, claim, ends FROM holdfast_resource WHERE session = ? AND name > ? ORDER BY name LIMIT ?"),

    /** A page of the resources that had no grant for long, or that have claims that may be dead. */
    RESTING("""
            SELECT name, last_token, grants + waiters FROM holdfast_resource
             WHERE name > ? AND (last_token <= ? OR grants > 0 OR waiters > 0) ORDER BY name LIMIT ?"""),

    /** A page of all resources, for which the time does not depend on how many are unused. */
    NAMES("SELECT name, last_token, grants + waiters FROM holdfast_resource WHERE name > ? ORDER BY name LIMIT ?"),

    DROP_RESOURCE("DELETE FROM holdfast_resource WHERE name = ?"),

    RAISE_FLOOR("UPDATE holdfast_meta SET token_floor = max(token_floor, ?) WHERE one = 1"),

    FLOOR("SELECT token_floor FROM holdfast_meta WHERE one = 1"),

    SESSION("SELECT client, ttl, label, epoch, deadline FROM holdfast_session WHERE id = ?"),
    ADD_SESSION("INSERT INTO holdfast_session (client, ttl, label, epoch, deadline, id) VALUES (?, ?, ?, ?, ?, ?)"),
    SAVE_SESSION("UPDATE holdfast_session SET epoch = ?, deadline = ? WHERE id = ?"),
    DROP_SESSION("DELETE FROM holdfast_session WHERE id = ?"),

    END_SESSION("UPDATE holdfast_session SET epoch = ?, deadline = 0 WHERE id = ? AND deadline > 0"),

    FORGET_SESSION("""
            DELETE FROM holdfast_session
             WHERE id = ? AND deadline = 0
               AND NOT EXISTS (SELECT 1 FROM holdfast_claim c WHERE c.session = holdfast_session.id)"""),

    SESSIONS_OVER("SELECT id FROM holdfast_session WHERE deadline > 0 AND deadline <= ? LIMIT ?"),

    /** Sessions that have ended and have no detached grants left. */
    SESSIONS_UNUSED("""
            SELECT id FROM holdfast_session
             WHERE deadline = 0 AND NOT EXISTS (SELECT 1 FROM holdfast_claim c WHERE c.session = holdfast_session.id)
             LIMIT ?"""),

    CLAIM(SqlTemplate.CLAIM_COLUMNS + " WHERE session = ? AND claim = ? AND name = ?"),
    CLAIMS_OF_SESSION(
            SqlTemplate.CLAIM_COLUMNS + " WHERE session = ? AND (claim, name) > (?, ?) ORDER BY claim, name LIMIT ?"),

    /** The claim that has waited longest. */
    HEAD(SqlTemplate.CLAIM_COLUMNS + " WHERE name = ? AND granted = 0 ORDER BY place LIMIT 1"),

    WAITERS(SqlTemplate.CLAIM_COLUMNS + " WHERE name = ? AND granted = 0 ORDER BY place LIMIT ?"),

    /** The claims that have waited longest, each with its session if that exists. */
    FRONT("""
            SELECT c.session, c.claim, c.binding, c.wanted, c.weight, c.ends, c.seq, c.first_token, c.end_token,
                   c.name, c.granted, c.place, s.client, s.ttl, s.label, s.epoch, s.deadline
              FROM holdfast_claim c LEFT JOIN holdfast_session s ON s.id = c.session
             WHERE c.name = ? AND c.granted = 0 ORDER BY c.place LIMIT ?"""),

    WAITERS_ABOVE(SqlTemplate.CLAIM_COLUMNS + " WHERE name = ? AND granted = 0 AND weight > ? ORDER BY place"),
    GRANTS(SqlTemplate.CLAIM_COLUMNS + " WHERE name = ? AND granted = 1 ORDER BY place LIMIT ?"),
    GRANTS_OF_SESSION(SqlTemplate.CLAIM_COLUMNS + " WHERE name = ? AND granted = 1 AND session = ? ORDER BY place"),
    GRANTS_OVER(
            SqlTemplate.CLAIM_COLUMNS + " WHERE name = ? AND granted = 1 AND ends > 0 AND ends <= ? ORDER BY place"),
    GRANT_OF_TOKEN(
            SqlTemplate.CLAIM_COLUMNS + " WHERE name = ? AND granted = 1 AND first_token <= ? AND end_token >= ?"),

    /** The sessions of grants with their own rows, with the number and total weight of these. */
    GRANTED_SESSIONS("""
            SELECT session, count(*), sum(weight) FROM holdfast_claim
             WHERE name = ? AND granted = 1 GROUP BY session"""),

    /** The earliest end of an own lease among the grants with their own rows. */
    FIRST_END("SELECT min(ends) FROM holdfast_claim WHERE name = ? AND granted = 1 AND ends > 0"),

    ADD_CLAIM("""
            INSERT INTO holdfast_claim (session, claim, binding, wanted, weight, ends, seq, first_token, end_token,
                   name, granted, place)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""),
    SAVE_CLAIM("""
            UPDATE holdfast_claim SET weight = ?, ends = ?, seq = ?, first_token = ?, end_token = ?
             WHERE name = ? AND granted = ? AND place = ?"""),
    DROP_CLAIM("DELETE FROM holdfast_claim WHERE name = ? AND granted = ? AND place = ?"),

    /** Deletes the claims on a resource that has never counted one. */
    DROP_UNCOUNTED("DELETE FROM holdfast_claim WHERE name = ?"),

    /**
     * A page of the sessions that have ended, each with a name on which it has claims that the resource never counted.
     */
    UNCOUNTED("""
            SELECT s.id, (SELECT c.name FROM holdfast_claim c
                           WHERE c.session = s.id
                             AND NOT EXISTS (SELECT 1 FROM holdfast_resource r WHERE r.name = c.name AND r.places > 0)
                           LIMIT 1)
              FROM holdfast_session s WHERE s.deadline = 0 AND s.id > ? ORDER BY s.id LIMIT ?"""),

    /** The annotations on grants of the resources from one name to another, and left ones. */
    ANNOTATIONS("SELECT name, session, claim, text FROM holdfast_annotation WHERE name >= ? AND name <= ?"),
    ANNOTATION("SELECT seq FROM holdfast_annotation WHERE name = ? AND session = ? AND claim = ?"),
    ADD_ANNOTATION("INSERT INTO holdfast_annotation (seq, text, name, session, claim) VALUES (?, ?, ?, ?, ?)"),
    SAVE_ANNOTATION("UPDATE holdfast_annotation SET seq = ?, text = ? WHERE name = ? AND session = ? AND claim = ?"),
    DROP_ANNOTATION("DELETE FROM holdfast_annotation WHERE name = ? AND session = ? AND claim = ?"),

    /** Annotations after a key whose grants have ended. No later grant has the same key. */
    LEFT_ANNOTATIONS("""
            SELECT a.name, a.session, a.claim FROM holdfast_annotation a
             WHERE NOT EXISTS (SELECT 1 FROM holdfast_session s WHERE s.id = a.session)
                OR (NOT EXISTS (SELECT 1 FROM holdfast_resource r
                                 WHERE r.name = a.name AND r.session = a.session AND r.claim = a.claim)
                    AND NOT EXISTS (SELECT 1 FROM holdfast_claim c
                                     WHERE c.session = a.session AND c.claim = a.claim AND c.name = a.name))
             LIMIT ?"""),

    /** The newest runs of a task. */
    RUNS("SELECT token, run FROM holdfast_run WHERE name = ? ORDER BY token DESC LIMIT ?"),
    RUN_TOKENS("SELECT token FROM holdfast_run WHERE name = ? ORDER BY token DESC LIMIT ?"),
    ADD_RUN("INSERT INTO holdfast_run (run, name, token) VALUES (?, ?, ?)"),
    SAVE_RUN("UPDATE holdfast_run SET run = ? WHERE name = ? AND token = ?"),
    DROP_RUNS("DELETE FROM holdfast_run WHERE name = ? AND token <= ?"),

    /** The keys of some old runs; it scans all rows. */
    OLD_RUNS("SELECT name, token FROM holdfast_run WHERE token < ? LIMIT ?"),

    LATCH("SELECT generation, remaining, changed FROM holdfast_latch WHERE name = ?"),
    ADD_LATCH("INSERT INTO holdfast_latch (generation, remaining, changed, name) VALUES (?, ?, ?, ?)"),
    SAVE_LATCH("UPDATE holdfast_latch SET generation = ?, remaining = ?, changed = ? WHERE name = ?"),

    DROP_LATCH("DELETE FROM holdfast_latch WHERE name = ?"),

    COUNTED("SELECT 1 FROM holdfast_count WHERE name = ? AND id = ?"),
    ADD_COUNTED("INSERT INTO holdfast_count (name, id) VALUES (?, ?)"),
    DROP_COUNTED("DELETE FROM holdfast_count WHERE name = ?");

    public static final String CLAIM_COLUMNS = "SELECT session, claim, binding, wanted, weight, ends, seq, first_token,"
            + " end_token, name, granted, place FROM holdfast_claim";

    public final String text;

    SqlTemplate(String text) {
        this.text = text;
    }
}
