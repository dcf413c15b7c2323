package dev.holdfast.testkit.sim;

import dev.holdfast.engine.deadlock.NameState;
import dev.holdfast.engine.deadlock.OwnWait;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The store of a {@link WaitsRun}: grants with annotations, and queues in the order of arrival. */
final class WaitsStore {

    /** A claim, and its grant. */
    static final class Claim {
        final WaitsClient client;
        final int name;
        final boolean isShared;
        final String id;

        // As the store has it.
        boolean isGranted;
        private long seq;
        private List<String> lines = List.of();

        /** What its client tells others about it. */
        final WaitsNote note = new WaitsNote(this);

        Claim(WaitsClient client, int name, boolean isShared, String id) {
            this.client = client;
            this.name = name;
            this.isShared = isShared;
            this.id = id;
        }
    }

    /** What is stored of a name. */
    private static final class Entry {
        final List<Claim> grants = new ArrayList<>();
        final List<Claim> queue = new ArrayList<>();
    }

    private final WaitsRun run;
    private final List<Entry> entries = new ArrayList<>();

    WaitsStore(WaitsRun run, int names) {
        this.run = run;
        for (int i = 0; i < names; i++) {
            entries.add(new Entry());
        }
    }

    void claim(Claim claim) {
        Entry entry = entries.get(claim.name);
        entry.queue.add(claim);
        advance(entry);
        entry.grants.stream().filter(grant -> !entry.queue.isEmpty()).forEach(WaitsStore::pushAwaited);
    }

    /** Grants a claim if that is possible at once. */
    boolean attempt(Claim claim) {
        Entry entry = entries.get(claim.name);
        if (!entry.queue.isEmpty() || !fits(entry, claim)) {
            return false;
        }
        grant(entry, claim);
        return true;
    }

    void release(Claim claim) {
        Entry entry = entries.get(claim.name);
        entry.queue.remove(claim);
        entry.grants.remove(claim);
        claim.isGranted = false;
        advance(entry);
    }

    /** Takes a grant away. */
    void force(int name, SeededRandom random) {
        Entry entry = entries.get(name);
        if (!entry.grants.isEmpty()) {
            Claim claim = random.oneOf(entry.grants);
            release(claim);
            claim.client.push(() -> claim.client.lost(claim));
        }
    }

    /** Ends the session of a client. */
    void expire(WaitsClient client) {
        for (Entry entry : entries) {
            entry.queue.removeIf(claim -> claim.client == client);
            entry.grants.removeIf(claim -> {
                claim.isGranted &= claim.client != client;
                return claim.client == client;
            });
            advance(entry);
        }
    }

    private void advance(Entry entry) {
        run.changed = true;
        while (!entry.queue.isEmpty() && fits(entry, entry.queue.get(0))) {
            Claim claim = entry.queue.remove(0);
            grant(entry, claim);
            claim.client.push(() -> claim.client.granted(claim));
            if (!entry.queue.isEmpty()) {
                pushAwaited(claim);
            }
        }
    }

    private static boolean fits(Entry entry, Claim claim) {
        return entry.grants.isEmpty()
                || (claim.isShared && entry.grants.stream().allMatch(grant -> grant.isShared));
    }

    private void grant(Entry entry, Claim claim) {
        run.changed = true;
        claim.isGranted = true;
        entry.grants.add(claim);
    }

    private static void pushAwaited(Claim claim) {
        claim.client.push(() -> claim.client.awaited(claim));
    }

    boolean annotate(Claim claim, long seq, List<String> lines) {
        if (claim.isGranted && (seq > claim.seq || run.flaw == WaitsRun.Flaw.ANNOTATIONS_HAVE_NO_ORDER)) {
            claim.seq = seq;
            claim.lines = lines;
        }
        return claim.isGranted;
    }

    /** Which grants others wait for. */
    Set<Claim> awaited(List<Claim> claims) {
        Set<Claim> awaited = new HashSet<>();
        for (Claim claim : claims) {
            if (claim.isGranted && !entries.get(claim.name).queue.isEmpty()) {
                awaited.add(claim);
            }
        }
        return awaited;
    }

    NameState inspect(int name, WaitsClient by) {
        Entry entry = entries.get(name);
        List<NameState.Holder> holders = new ArrayList<>();
        for (Claim grant : entry.grants) {
            if (grant.client != by) {
                holders.add(new NameState.Holder(new OwnWait.Owner(grant.client.name(), "", ""), grant.lines));
            }
        }
        List<NameState.Waiter> waiters = new ArrayList<>();
        for (Claim claim : entry.queue) {
            waiters.add(new NameState.Waiter(claim.id, run.isReadWrite(name) && !claim.isShared));
        }
        return new NameState(WaitsRun.nameOf(name), holders, waiters);
    }

    /** Whether a writer's claim waits before this one, or at all. */
    boolean hasWriterBefore(int name, @Nullable Claim claim) {
        for (Claim waiting : entries.get(name).queue) {
            if (waiting == claim) {
                return false;
            }
            if (!waiting.isShared) {
                return true;
            }
        }
        return false;
    }

    /** The grants that have another annotation than their clients were told. */
    List<Claim> stale() {
        return entries.stream()
                .flatMap(entry -> entry.grants.stream())
                .filter(grant -> grant.note.isStale(grant.lines))
                .toList();
    }

    /** Whether a claim waits. */
    boolean isQueued(Claim claim) {
        return entries.get(claim.name).queue.contains(claim);
    }
}
