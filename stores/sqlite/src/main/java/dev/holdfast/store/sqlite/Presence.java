package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;
import dev.holdfast.store.sqlite.SqliteClients.Rule;
import dev.holdfast.store.sqlite.process.ProcFs;
import dev.holdfast.store.sqlite.process.ProcFs.Incarnation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How other processes decide whether the holder behind a {@link SqliteStore} is still alive.
 *
 * <p>By default the holder is this process: when it ends, its locks are free at once, without waiting for the lease. A
 * program that takes a lock <em>for a child</em> declares that, because its own end then proves nothing:
 *
 * <pre>{@code
 * Presence presence = store.presence();
 * presence.leaseOnly();                       // from here on, only the lease ends what we hold
 * presence.mark(builder.environment());       // descendants can be told by their environment
 * Process child = builder.start();
 * presence.follow(child.pid());               // from here on: the lease, or the end of the last of us
 * }</pre>
 *
 * <p>After {@code follow}, locks are free before the lease expires only when this process <em>and</em> every followed
 * process <em>and</em> every process with the mark have ended. A descendant that clears its environment, or whose
 * environment others cannot read because it runs as another user, is not seen once the followed process has ended.
 *
 * <p>It applies to all present and later sessions of the store instance. Where processes cannot be observed (on systems
 * other than Linux, and between pid namespaces), only the lease decides, and these methods have no visible effect.
 *
 * <p>Each method except {@link #mark} writes to the file once. <b>Blocking:</b> for that write, at most the busy
 * time-out. <b>Interruption:</b> has no effect, and the flag stays set. <b>Thread-safety:</b> all methods may be called
 * from any thread.
 */
public final class Presence {

    /** The environment variable that marks the descendants of a hold: identifiers separated by commas. */
    public static final String VARIABLE = "HOLDFAST_HOLD";

    private final SqliteLane lane;
    private final SqliteClients clients;
    private final ProcFs proc;
    private final String mark;

    Presence(SqliteLane lane, SqliteClients clients, ProcFs proc, long client) {
        this.lane = lane;
        this.clients = clients;
        this.proc = proc;
        this.mark = SqliteClients.markOf(client);
    }

    /**
     * From now on the end of this process is no evidence: only the lease ends its holds.
     *
     * @throws StoreException if the file cannot be written; then the earlier rule may still be in force, so do not
     *     start the child
     */
    public synchronized void leaseOnly() {
        set(Rule.LEASE_ONLY, clients.ownFollowed());
    }

    /**
     * Adds the mark to the environment of a child that is about to be started. Existing marks stay, so that nested
     * holds work.
     *
     * @param environment as from {@link ProcessBuilder#environment()}
     */
    public void mark(Map<String, String> environment) {
        environment.merge(VARIABLE, mark, (outer, own) -> outer.isEmpty() ? own : outer + "," + own);
    }

    /**
     * From now on holds are free before the lease expires when this process, all followed processes and all processes
     * with the mark have ended. May be called for several processes.
     *
     * @param pid a live process, usually the child; if it has ended already, only the mark counts
     * @throws StoreException if the file can't be written; then only the lease counts, as before
     */
    public synchronized void follow(long pid) {
        List<Incarnation> followed = new ArrayList<>(clients.ownFollowed());
        proc.find(pid).ifPresent(followed::add);
        set(Rule.ALL_THAT_FOLLOW, followed);
    }

    /**
     * Restores the default: only the end of this process frees its holds before the lease expires. For a program that
     * continues after its children have ended.
     *
     * @throws StoreException if the file can't be written; then the earlier rule may still be in force
     */
    public synchronized void thisProcess() {
        set(Rule.THIS_PROCESS, List.of());
    }

    private void set(Rule rule, List<Incarnation> followed) {
        lane.transact(ledger -> clients.record(rule, followed));
    }
}
