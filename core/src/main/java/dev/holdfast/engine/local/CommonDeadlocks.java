package dev.holdfast.engine.local;

import dev.holdfast.Deadlock;
import dev.holdfast.LockDeadlockException;
import dev.holdfast.OnDeadlock;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.deadlock.DeadlockDetector;
import dev.holdfast.engine.deadlock.DeadlockRules;
import dev.holdfast.engine.deadlock.Findings;
import dev.holdfast.engine.deadlock.NameState;
import dev.holdfast.engine.deadlock.OwnWait;
import dev.holdfast.engine.deadlock.WaitLine.Blocking;
import dev.holdfast.engine.deadlock.WaitNode;
import dev.holdfast.engine.deadlock.Walk;
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
import dev.holdfast.spi.StoreTraits.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
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
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * One pass after another, each asynchronous. A pass polls the grants of the threads that wait: if no one waits for
 * them, and no one may wait for a shared one, it reads nothing else. Otherwise it walks: it inspects the names that
 * these threads wait for, then those that the waits wait for which it finds in the annotations of their holders, and so
 * on. It inspects the names of readers again, reads the client's own tables last, and leaves the rest to the detector.
 * The lines that result are set at the grants' notes, which send them.
 */

/** The search for deadlocks with threads of other clients. One pass at a time. */
final class CommonDeadlocks {
    private static final Logger log = LoggerFactory.getLogger(CommonDeadlocks.class);

    /** The most claims in one command, so that none is too large for a store. */
    private static final int MAX_POLLED = 256;

    private final LocalResources resources;
    private final ClientContext context;
    private final DeadlockRules rules;
    private final DeadlockDetector detector;

    /** Otherwise every hold may be awaited; and no wait is ended, since a hold is at several stores. */
    private final boolean knowsWaiters;

    /** The grants that have lines, which are about requests. */
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
    void ended(Request request) {
        for (Grant grant : annotatedGrants()) {
            Map<Object, String> lines = annotated.getOrDefault(grant, Map.of());
            if (lines.containsKey(request)) {
                Map<Object, String> left = new LinkedHashMap<>(lines);
                left.remove(request);
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
        Pass pass = new Pass(nested, isReported, end);
        pass.guarded(pass::poll);
    }

    private static String idOf(ClaimRef claim) {
        return claim.session().value() + "/" + claim.claim();
    }

    /** One pass. Its steps follow each other, on the threads of the replies. */
    private final class Pass {
        private final List<NestedWait> nested;
        private final Predicate<Set<NestedWait>> isReported;
        private final LongConsumer end;
        private final Walk walk = new Walk();
        private final Map<String, NameState> writers = new HashMap<>();
        private final Set<Object> awaited = new HashSet<>();
        private @Nullable List<OwnWait> readFirst;

        Pass(List<NestedWait> nested, Predicate<Set<NestedWait>> isReported, LongConsumer end) {
            this.nested = nested;
            this.isReported = isReported;
            this.end = end;
        }

        /** A pass that fails ends, and the next one begins after the usual pause. */
        void guarded(Runnable step) {
            if (context.isClosing() || Failsafe.run("searching for deadlocks between clients", step) != null) {
                end.accept(pauseNanos());
            }
        }

        private long pauseNanos() {
            return rules.pauseNanos(0, context.options().sessionTtl().toNanos());
        }

        private void poll() {
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
            join(answers, sets -> {
                Set<ClaimRef> atStore = new HashSet<>();
                sets.forEach(atStore::addAll);
                noteAwaited(atStore);
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

        private void noteAwaited(Set<ClaimRef> atStore) {
            for (NestedWait wait : nested) {
                for (LocalHold hold : wait.holds()) {
                    boolean isShared =
                            hold.claim().weight() < hold.resource().spec.capacity();
                    boolean isAwaitedHere =
                            hold.issuer() instanceof LocalSynchronizer resource && resource.waiting() > 0;
                    boolean isAwaitedAtStore =
                            !knowsWaiters || atStore.contains(hold.claim().ref());
                    if (rules.isAwaited(isAwaitedHere, isAwaitedAtStore, isShared)) {
                        awaited.add(wait.request);
                    }
                }
            }
            if (!rules.readsTablesLast()) {
                readFirst = tables();
            }
            if (rules.inspectsWritersLast()) {
                begin();
            } else {
                inspectWriters(this::begin);
            }
        }

        private List<NestedWait> start() {
            return nested.stream()
                    .filter(wait -> awaited.contains(wait.request))
                    .toList();
        }

        private void begin() {
            inspect(walk.begin(
                    start().stream().map(wait -> wait.request.name.value()).toList()));
        }

        /** Inspects names, and then those that follow from them. */
        private void inspect(List<String> names) {
            if (names.isEmpty()) {
                // A writer elsewhere can also be between two threads of this client.
                if (rules.inspectsWritersLast() && (!walk.isEmpty() || nested.size() > 1)) {
                    inspectWriters(this::evaluate);
                } else {
                    evaluate();
                }
                return;
            }
            join(names.stream().map(this::inspect).toList(), states -> {
                List<String> next = new ArrayList<>();
                states.forEach(state -> state.ifPresent(found -> next.addAll(walk.add(found))));
                inspect(next);
            });
        }

        private void inspectWriters(Runnable then) {
            Set<String> names = new LinkedHashSet<>();
            for (NestedWait wait : start()) {
                if (wait.request.isShare()) {
                    names.add(wait.request.name.value());
                }
            }
            join(names.stream().map(this::inspect).toList(), states -> {
                states.forEach(state -> state.ifPresent(found -> writers.put(found.name(), found)));
                then.run();
            });
        }

        private CompletableFuture<Optional<NameState>> inspect(String name) {
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

        /** Continues when all futures are complete; the pass ends if one of them has failed. */
        private <T> void join(List<CompletableFuture<T>> futures, Consumer<List<T>> then) {
            var unused = CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new))
                    .whenComplete((none, failure) -> {
                        if (failure != null) {
                            end.accept(pauseNanos());
                        } else {
                            guarded(() -> then.accept(futures.stream()
                                    .map(CompletableFuture::join)
                                    .toList()));
                        }
                    });
        }

        private void evaluate() {
            List<OwnWait> own = readFirst == null ? tables() : readFirst;
            if (walk.isCutOff()) {
                log.debug("store={} a search for deadlocks was too large", context.product());
            }
            long now = context.environment().monotonicNanos();
            long youngest = nested.stream()
                    .mapToLong(wait -> now - wait.beganNanos)
                    .min()
                    .orElse(0);
            Findings findings = detector.evaluate(own, awaited, walk, youngest);
            findings.deadlocks().forEach(this::report);
            annotate(findings.lines());
            end.accept(findings.pauseNanos());
        }

        // ---- The client's own tables

        private List<OwnWait> tables() {
            List<OwnWait> own = new ArrayList<>();
            for (NestedWait wait : nested) {
                OwnWait read = read(wait);
                if (read != null) {
                    own.add(read);
                }
            }
            return own;
        }

        /** Reads one wait; null if it has ended meanwhile, or nothing is held. */
        private @Nullable OwnWait read(NestedWait wait) {
            WaitState state = wait.state();
            if (state == null || !(state.isHead() || rules.isStatedBehindOthers())) {
                return null;
            }
            List<OwnWait.Hold> holds = new ArrayList<>();
            for (LocalHold hold : wait.holds()) {
                if (hold.isLastingAndOwned()) {
                    holds.add(new OwnWait.Hold(
                            hold.grant(), hold.name(), !isShare(hold), hold.rawToken(), ownerOf(hold)));
                }
            }
            if (holds.isEmpty() || wait.request.isDone()) {
                return null;
            }
            String reason = writerBefore(wait, state);
            Blocking blocking =
                    !state.isReader() ? Blocking.ALL : reason.isEmpty() ? Blocking.WRITERS : Blocking.ALL_BEHIND_WRITER;
            return new OwnWait(
                    wait.request,
                    wait.thread,
                    wait.threadName(),
                    wait.request.name.value(),
                    blocking,
                    reason,
                    TimeUnit.NANOSECONDS.toMillis(context.environment().monotonicNanos() - wait.beganNanos),
                    context.options().onDeadlock() == OnDeadlock.FAIL && knowsWaiters,
                    holds);
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

        /** Which writer is before a reader; empty if none is known. */
        private String writerBefore(NestedWait wait, WaitState state) {
            String found = "";
            NameState atStore = writers.get(wait.request.name.value());
            if (!state.isReader()) {
                return found;
            }
            if (state.isBehindWriter()) {
                found = "here";
            } else if (atStore != null && state.queued() != null) {
                found = atStore.isBehindWriter(idOf(state.queued())) ? "behind " + idOf(state.queued()) : "";
            } else if (atStore != null && state.isDraining()) {
                found = atStore.firstWriter()
                        .map(writer -> "draining for " + writer)
                        .orElse("");
            }
            return rules.countsWriterBefore(!found.isEmpty()) ? found : "";
        }

        private void report(List<WaitNode> cycle) {
            Set<Object> requests = cycle.stream()
                    .map(WaitNode::own)
                    .filter(Objects::nonNull)
                    .map(OwnWait::request)
                    .collect(Collectors.toSet());
            Set<NestedWait> here = nested.stream()
                    .filter(wait -> requests.contains(wait.request))
                    .collect(Collectors.toSet());
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
                    .ifPresent(own -> nested.stream()
                            .filter(wait -> wait.request == own.request())
                            .forEach(wait -> fail(wait, deadlock)));
        }

        private void fail(NestedWait wait, Deadlock deadlock) {
            var unused = wait.resource.fail(
                    wait.request,
                    () -> new LockDeadlockException(wait.request.name.value(), context.product(), deadlock));
        }
    }
}
