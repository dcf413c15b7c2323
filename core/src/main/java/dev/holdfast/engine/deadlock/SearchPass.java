package dev.holdfast.engine.deadlock;

import dev.holdfast.engine.deadlock.SearchedClient.PolledHold;
import dev.holdfast.engine.deadlock.SearchedClient.Reader;
import dev.holdfast.engine.deadlock.SearchedClient.Searched;
import dev.holdfast.engine.deadlock.SearchedClient.TableEntry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/*
 * A pass polls the grants of the threads that wait: if no one waits for them, and no one may wait for a shared one, it
 * reads nothing else. Otherwise it walks: it inspects the names that these threads wait for, then those that the waits
 * wait for which it finds in the annotations of their holders, and so on. It inspects the names of readers again, reads
 * the client's own tables last, and leaves the rest to the detector.
 */

/** One pass of the search for deadlocks with threads of other clients. Its steps run on the threads of the replies. */
public final class SearchPass {

    private final SearchedClient client;
    private final DeadlockRules rules;
    private final DeadlockDetector detector;
    private final Walk walk = new Walk();
    private final Map<String, NameState> writers = new HashMap<>();
    private final Set<Object> awaited = new HashSet<>();
    private @Nullable List<OwnWait> readFirst;

    /** Makes a pass, for which its client uses the detector alone. */
    public SearchPass(SearchedClient client, DeadlockRules rules, DeadlockDetector detector) {
        this.client = client;
        this.rules = rules;
        this.detector = detector;
    }

    /** Makes the pass. It fails if the grants can't be polled. */
    public CompletableFuture<Findings> run() {
        return client.poll()
                .thenCompose(holds -> {
                    noteAwaited(holds);
                    return rules.inspectsWritersLast()
                            ? walk()
                            : inspectWriters().thenCompose(none -> walk());
                })
                .thenApply(none -> evaluate());
    }

    /** Whether there were more names than it inspects. Known when it has ended. */
    public boolean isCutOff() {
        return walk.isCutOff();
    }

    private void noteAwaited(List<PolledHold> holds) {
        for (PolledHold hold : holds) {
            if (rules.isAwaited(hold.isAwaitedHere(), hold.isAwaitedAtStore(), hold.isSharedGrant())) {
                awaited.add(hold.request());
            }
        }
        if (!rules.readsTablesLast()) {
            readFirst = tables();
        }
    }

    private Stream<Searched> start() {
        return client.waits().stream().filter(wait -> awaited.contains(wait.request()));
    }

    private CompletableFuture<@Nullable Void> walk() {
        return inspect(walk.begin(start().map(Searched::awaits).toList()));
    }

    /** Inspects names, and then those that follow from them. */
    private CompletableFuture<@Nullable Void> inspect(List<String> names) {
        if (names.isEmpty()) {
            // A writer elsewhere can also be between two threads of this client.
            boolean mayClose = !walk.isEmpty() || client.waits().size() > 1;
            return rules.inspectsWritersLast() && mayClose ? inspectWriters() : CompletableFuture.completedFuture(null);
        }
        return states(names).thenCompose(states -> {
            List<String> next = new ArrayList<>();
            states.forEach(state -> next.addAll(walk.add(state)));
            return inspect(next);
        });
    }

    private CompletableFuture<@Nullable Void> inspectWriters() {
        Set<String> names = new LinkedHashSet<>();
        start().filter(Searched::isReader).forEach(wait -> names.add(wait.awaits()));
        return states(names).<@Nullable Void>thenApply(states -> {
            states.forEach(state -> writers.put(state.name(), state));
            return null;
        });
    }

    private CompletableFuture<List<NameState>> states(Collection<String> names) {
        List<CompletableFuture<Optional<NameState>>> replies =
                names.stream().map(client::inspect).toList();
        return CompletableFuture.allOf(replies.toArray(CompletableFuture[]::new))
                .thenApply(none ->
                        replies.stream().flatMap(reply -> reply.join().stream()).toList());
    }

    private Findings evaluate() {
        List<OwnWait> own = readFirst == null ? tables() : readFirst;
        return detector.evaluate(own, awaited, walk, client.youngestNanos());
    }

    private List<OwnWait> tables() {
        List<OwnWait> own = new ArrayList<>();
        for (TableEntry entry : client.tables()) {
            if (entry.isHead() || rules.isStatedBehindOthers()) {
                Reader reader = entry.reader();
                OwnWait wait = entry.own();
                own.add(reader == null ? wait : wait.ofReader(writerBefore(wait.awaits(), reader)));
            }
        }
        return own;
    }

    /** Which writer is before a reader; empty if none is known. */
    private String writerBefore(String name, Reader reader) {
        String found = "";
        NameState atStore = writers.get(name);
        String queued = reader.queued();
        if (reader.isBehindWriter()) {
            found = "here";
        } else if (atStore != null && queued != null) {
            found = atStore.isBehindWriter(queued) ? "behind " + queued : "";
        } else if (atStore != null && reader.isDraining()) {
            found = atStore.firstWriter()
                    .map(writer -> "draining for " + writer)
                    .orElse("");
        }
        return rules.countsWriterBefore(!found.isEmpty()) ? found : "";
    }
}
