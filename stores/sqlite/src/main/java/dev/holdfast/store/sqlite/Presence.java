package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;
import dev.holdfast.store.sqlite.SqliteClients.Rule;
import dev.holdfast.store.sqlite.process.ProcFs;
import dev.holdfast.store.sqlite.process.ProcFs.Incarnation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How others judge whether the holder behind a {@link SqliteStore} is still there.
 *
 * <p>By default the holder is this process: once it is gone, what it holds is free at once, without waiting for the
 * lease. A program that takes a lock
 * <em>for a child</em> says so, because then its own death proves nothing:
 *
 * <pre>{@code
 * Presence presence = store.presence();
 * presence.leaseOnly();                       // from here on, only the lease ends what we hold
 * presence.mark(builder.environment());       // descendants can be told by their environment
 * Process child = builder.start();
 * presence.follow(child.pid());               // from here on: the lease, or the end of the last of us
 * }</pre>
 *
 * <p>After {@code follow}, what is held is free before its lease only when this process <em>and</em> every followed
 * process <em>and</em> every process that carries the mark are gone. A descendant that clears its environment, or whose
 * environment can't be read by the others (it runs as another user), is not seen once the followed process has ended.
 *
 * <p>It applies to all sessions of the store instance, present and later ones. Where processes can't be observed (other
 * systems than Linux, other pid namespaces) only the lease decides anyway, and these methods change nothing that could
 * be seen.
 *
 * <p>Each method but {@link #mark} makes one write to the file. <b>Blocking:</b> for that write, at most the busy
 * time-out. <b>Interruption:</b> has no effect, and the flag stays set. <b>Thread-safety:</b> all methods may be called
 * from any thread.
 */
public final class Presence {

    /** The environment variable that marks the descendants of a hold: identifiers, separated by commas. */
    public static final String VARIABLE = "HOLDFAST_HOLD";

    private final Lane lane;
    private final SqliteClients clients;
    private final ProcFs proc;
    private final String mark;

    Presence(Lane lane, SqliteClients clients, ProcFs proc, long client) {
        this.lane = lane;
        this.clients = clients;
        this.proc = proc;
        this.mark = SqliteClients.markOf(client);
    }

    /**
     * From now on the death of this process is no evidence: only the lease ends what is held.
     *
     * @throws StoreException if the file can't be written; then the earlier rule may still be in force, so don't start
     *     the child
     */
    public synchronized void leaseOnly() {
        set(Rule.LEASE_ONLY, clients.ownFollowed());
    }

    /**
     * Puts the mark into the environment of a child that is about to be started. Marks that are there already stay, so
     * that nested holds work.
     *
     * @param environment as of {@link ProcessBuilder#environment()}
     */
    public void mark(Map<String, String> environment) {
        environment.merge(VARIABLE, mark, (outer, own) -> outer.isEmpty() ? own : outer + "," + own);
    }

    /**
     * From now on what is held is free, before its lease ends, when this process, all that were followed and all that
     * carry the mark are gone. May be called for several processes.
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
     * Back to the default: the death of this process, and nothing else, frees what is held before its lease ends. For a
     * program that goes on after its children.
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
