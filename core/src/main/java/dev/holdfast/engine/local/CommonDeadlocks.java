package dev.holdfast.engine.local;

import dev.holdfast.Deadlock;
import dev.holdfast.LockDeadlockException;
import dev.holdfast.OnDeadlock;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.deadlock.DeadlockDetector;
import dev.holdfast.engine.deadlock.DeadlockRules;
import dev.holdfast.engine.deadlock.NameState;
import dev.holdfast.engine.deadlock.OwnWait;
import dev.holdfast.engine.deadlock.SearchPass;
import dev.holdfast.engine.deadlock.SearchedClient;
import dev.holdfast.engine.deadlock.WaitLine.Blocking;
import dev.holdfast.engine.deadlock.WaitNode;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.local.WaitView.WaitState;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.wire.ResourceInspection;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.support.Stages;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The search for deadlocks with threads of other clients. One pass at a time. */
final class CommonDeadlocks {
    private static final Logger log = LoggerFactory.getLogger(CommonDeadlocks.class);

    /** The most claims in one command, so that none is too large for a store. */
    private static final int MAX_POLLED = 256;

    private static final String SEARCHING = "searching for deadlocks between clients";

    private final LocalResources resources;
    private final ClientContext context;
    private final DeadlockRules rules;
    private final DeadlockDetector detector;

    /** Otherwise every hold may be awaited; and no wait is ended, since a hold is at several stores. */
    private final boolean knowsWaiters;

    /** The grants that have lines, by the waits that these are about. */
    private final Map<Grant, Map<Object, String>> annotated = Collections.synchronizedMap(new LinkedHashMap<>());

    CommonDeadlocks(LocalResources resources) {
        this.resources = resources;
        this.context = resources.context;
        this.rules = context.rules().deadlocks();
        this.knowsWaiters = context.traits().has(Feature.KNOWN_WAITERS);
        this.detector = new DeadlockDetector(
                rules,
                context.environment()::randomLong,
                context.options().sessionTtl().toNanos());
    }

    /** There is no nested wait. */
    void rest() {
        annotate(Map.of());
        detector.reset();
    }

    /** A wait has ended: its lines are removed. A pass that has read it before may set them for a moment. */
    void ended(NestedWait wait) {
        for (Grant grant : annotatedGrants()) {
            Map<Object, String> lines = annotated.getOrDefault(grant, Map.of());
            if (lines.containsKey(wait)) {
                Map<Object, String> left = new LinkedHashMap<>(lines);
                left.remove(wait);
                set(grant, left);
            }
        }
    }

    private List<Grant> annotatedGrants() {
        synchronized (annotated) {
            return List.copyOf(annotated.keySet());
        }
    }

    private void annotate(Map<Object, Map<Object, String>> lines) {
        for (Grant grant : annotatedGrants()) {
            if (!lines.containsKey(grant)) {
                set(grant, Map.of());
            }
        }
        lines.forEach((grant, ofGrant) -> set((Grant) grant, ofGrant));
    }

    /** Sets the lines of a grant, which its note sends if they have changed. */
    private void set(Grant grant, Map<Object, String> lines) {
        if (lines.isEmpty()) {
            annotated.remove(grant);
        } else {
            annotated.put(grant, lines);
        }
        grant.setWaits(List.copyOf(lines.values()));
    }

    /**
     * Makes a pass.
     *
     * @param isReported whether a cycle of these threads was reported without the store
     * @param end receives the pause before the next one
     */
    void search(List<NestedWait> nested, Predicate<Set<NestedWait>> isReported, LongConsumer end) {
        // A pass ends by itself, unless it fails to begin. Without an end there would be no further search.
        if (Failsafe.run(SEARCHING, () -> begin(nested, isReported, end)) != null) {
            end.accept(pauseNanos());
        }
    }

    private void begin(List<NestedWait> nested, Predicate<Set<NestedWait>> isReported, LongConsumer end) {
        SearchPass pass = new SearchPass(new Client(nested), rules, detector);
        var unused = pass.run().whenComplete((found, failure) -> {
            Throwable thrown = failure == null ? null : Stages.causeOf(failure);
            if (thrown == null && !context.isClosing()) {
                thrown = Failsafe.run(SEARCHING, () -> {
                    if (pass.isCutOff()) {
                        log.debug("store={} a search for deadlocks was too large", context.product());
                    }
                    found.deadlocks().forEach(cycle -> report(cycle, nested, isReported));
                    annotate(found.lines());
                });
            } else if (thrown != null && !(thrown instanceof StoreException)) {
                Failsafe.log(SEARCHING, thrown);
            }
            // After a pass that has failed the next one begins as usual.
            end.accept(thrown == null ? found.pauseNanos() : pauseNanos());
        });
    }

    private long pauseNanos() {
        return rules.pauseNanos(0, context.options().sessionTtl().toNanos());
    }

    private static String idOf(ClaimRef claim) {
        return claim.session().value() + "/" + claim.claim();
    }

    /** What one pass reads. */
    private final class Client implements SearchedClient {
        private final List<NestedWait> nested;
        private final List<Searched> waits;

        Client(List<NestedWait> nested) {
            this.nested = nested;
            this.waits = nested.stream()
                    .map(wait -> new Searched(wait, wait.awaits.value(), wait.isReader()))
                    .toList();
        }

        @Override
        public List<Searched> waits() {
            return waits;
        }

        @Override
        public long youngestNanos() {
            long now = context.environment().monotonicNanos();
            return nested.stream()
                    .mapToLong(wait -> now - wait.beganNanos)
                    .min()
                    .orElse(0);
        }

        @Override
        public CompletableFuture<List<PolledHold>> poll() {
            Map<Partition, Set<ClaimRef>> claims = new LinkedHashMap<>();
            for (NestedWait wait : nested) {
                for (LocalHold hold : wait.holds()) {
                    if (hold.isLastingAndOwned()) {
                        claims.computeIfAbsent(hold.resource().partition, key -> new LinkedHashSet<>())
                                .add(hold.claim().ref());
                    }
                }
            }
            List<CompletableFuture<Set<ClaimRef>>> answers = new ArrayList<>();
            claims.forEach((partition, refs) -> {
                List<ClaimRef> all = List.copyOf(refs);
                for (int from = 0; from < all.size(); from += MAX_POLLED) {
                    answers.add(poll(partition, all.subList(from, Math.min(all.size(), from + MAX_POLLED))));
                }
            });
            return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
                    .thenApply(none -> {
                        Set<ClaimRef> atStore = new HashSet<>();
                        answers.forEach(answer -> atStore.addAll(answer.join()));
                        return polled(atStore);
                    });
        }

        private CompletableFuture<Set<ClaimRef>> poll(Partition partition, List<ClaimRef> claims) {
            return partition
                    .wire
                    .ask(new Command.Poll(claims), CallerMode.ASYNC)
                    .thenApply(reply -> {
                        Set<ClaimRef> found = new HashSet<>();
                        if (reply instanceof Reply.Polled polled
                                && polled.states().size() == claims.size()) {
                            for (int i = 0; i < claims.size(); i++) {
                                if (polled.states().get(i) instanceof Reply.Granted granted && granted.awaited()) {
                                    found.add(claims.get(i));
                                }
                            }
                        }
                        return found;
                    });
        }

        private List<PolledHold> polled(Set<ClaimRef> atStore) {
            List<PolledHold> polled = new ArrayList<>();
            for (NestedWait wait : nested) {
                for (LocalHold hold : wait.holds()) {
                    polled.add(new PolledHold(
                            wait,
                            hold.issuer() instanceof LocalSynchronizer resource && resource.waiting() > 0,
                            !knowsWaiters || atStore.contains(hold.claim().ref()),
                            hold.claim().weight() < hold.resource().spec.capacity()));
                }
            }
            return polled;
        }

        @Override
        public CompletableFuture<Optional<NameState>> inspect(String name) {
            ResourceName resource = new ResourceName(name);
            Partition partition = resources.partition(resource);
            return ResourceInspection.askForAll(partition.wire, resource, CallerMode.ASYNC)
                    .thenApply(found -> found.map(info -> stateOf(info, partition.session())))
                    .exceptionally(failure -> Optional.empty());
        }

        private NameState stateOf(ResourceInfo info, @Nullable Session session) {
            List<NameState.Holder> holders = new ArrayList<>();
            for (Party party : info.holders()) {
                if (session == null || !party.claim().session().equals(session.id)) {
                    OwnWait.Owner owner = new OwnWait.Owner(
                            party.label(), party.claim().session().value(), party.message());
                    holders.add(new NameState.Holder(owner, party.waits()));
                }
            }
            boolean isReadWrite = info.spec().kind() == Kind.READ_WRITE;
            List<NameState.Waiter> waiters = info.waiters().stream()
                    .map(party -> new NameState.Waiter(idOf(party.claim()), isReadWrite && party.weight() > 1))
                    .toList();
            return new NameState(info.name().value(), holders, waiters);
        }

        // ---- The client's own tables

        @Override
        public List<TableEntry> tables() {
            List<TableEntry> entries = new ArrayList<>();
            for (NestedWait wait : nested) {
                TableEntry entry = read(wait);
                if (entry != null) {
                    entries.add(entry);
                }
            }
            return entries;
        }

        /** Reads one wait; null if it has ended meanwhile, or nothing is held. */
        private @Nullable TableEntry read(NestedWait wait) {
            WaitState state = wait.state();
            if (state == null) {
                return null;
            }
            List<OwnWait.Hold> holds = new ArrayList<>();
            for (LocalHold hold : wait.holds()) {
                if (hold.isLastingAndOwned()) {
                    holds.add(new OwnWait.Hold(
                            hold.grant(), hold.name(), !isShare(hold), hold.rawToken(), ownerOf(hold)));
                }
            }
            if (holds.isEmpty() || wait.isOver()) {
                return null;
            }
            OwnWait own = new OwnWait(
                    wait,
                    wait.thread,
                    wait.threadName(),
                    wait.awaits.value(),
                    Blocking.ALL,
                    "",
                    TimeUnit.NANOSECONDS.toMillis(context.environment().monotonicNanos() - wait.beganNanos),
                    context.options().onDeadlock() == OnDeadlock.FAIL && knowsWaiters,
                    holds);
            ClaimRef queued = state.queued();
            Reader reader =
                    new Reader(state.isBehindWriter(), queued == null ? null : idOf(queued), state.isDraining());
            return new TableEntry(own, state.isHead(), state.isReader() ? reader : null);
        }

        private boolean isShare(LocalHold hold) {
            hold.resource().lock();
            try {
                return hold.isShare();
            } finally {
                hold.resource().unlock();
            }
        }

        private OwnWait.Owner ownerOf(LocalHold hold) {
            return new OwnWait.Owner(
                    context.options().label(), hold.claim().session.id.value(), hold.message());
        }
    }

    private void report(List<WaitNode> cycle, List<NestedWait> nested, Predicate<Set<NestedWait>> isReported) {
        Set<Object> requests = cycle.stream()
                .map(WaitNode::own)
                .filter(Objects::nonNull)
                .map(OwnWait::request)
                .collect(Collectors.toSet());
        Set<NestedWait> here = nested.stream().filter(requests::contains).collect(Collectors.toSet());
        if (here.size() == cycle.size() && isReported.test(here)) {
            return;
        }
        Optional<WaitNode> victim = DeadlockDetector.victim(cycle);
        List<Deadlock.Member> members = new ArrayList<>();
        for (int i = 0; i < cycle.size(); i++) {
            WaitNode node = cycle.get(i);
            String name =
                    cycle.get((i + cycle.size() - 1) % cycle.size()).line().awaits();
            WaitNode.HeldName hold = Objects.requireNonNull(node.holds().get(name));
            members.add(new Deadlock.Member(
                    hold.owner().label(),
                    hold.owner().session(),
                    node.line().thread(),
                    name,
                    hold.token(),
                    hold.owner().message(),
                    node.line().awaits(),
                    node.line().blocking() == Blocking.ALL_BEHIND_WRITER,
                    Duration.ofMillis(
                            node.own() == null
                                    ? node.line().waitedMillis()
                                    : node.own().waitedMillis()),
                    victim.filter(node::equals).isPresent()));
        }
        Deadlock deadlock = new Deadlock(members);
        context.noteDeadlock(deadlock);
        victim.map(WaitNode::own)
                .ifPresent(own ->
                        nested.stream().filter(wait -> wait == own.request()).forEach(wait -> fail(wait, deadlock)));
    }

    private void fail(NestedWait wait, Deadlock deadlock) {
        wait.fail(() -> new LockDeadlockException(wait.awaits.value(), context.product(), deadlock));
    }
}
