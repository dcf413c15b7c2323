package dev.holdfast.testkit.sim;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.testkit.sim.ClaimRecord.End;
import dev.holdfast.testkit.sim.ClaimRecord.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Checks the store from outside: it keeps its own record of sessions, claims and tokens from commands and replies, and
 * compares it after each step with what the store reports. It checks the rules that concern the store alone.
 */
final class StoreOracle {

    /** A step of the store, and the claims that it reports afterwards. */
    private record Step(Command command, Reply reply, SimLink from, long micros, Map<ClaimRef, ClaimRecord> present) {}

    private final World world;
    private final boolean isPassive;
    private final Coverage coverage;
    private final Map<SessionId, ClaimRecord.Session> sessions = new HashMap<>();
    private final Map<ClaimRef, ClaimRecord> records = new HashMap<>();
    private final Map<String, ResourceRecord> resourceRecords = new LinkedHashMap<>();
    private final Map<String, LatchRecord> latches = new LinkedHashMap<>();
    private BiConsumer<String, ClaimRecord> onGrant = (resource, record) -> {};
    private long places;
    private long grants;
    private boolean hadAmnesia;

    /**
     * Creates an empty record.
     *
     * @param isPassive as in {@link SimStore#isPassive()}
     */
    StoreOracle(World world, boolean isPassive, Coverage coverage) {
        this.world = world;
        this.isPassive = isPassive;
        this.coverage = coverage;
    }

    /** Adds a listener for grants, at the instant at which the store makes them. */
    void onGrant(BiConsumer<String, ClaimRecord> listener) {
        onGrant = onGrant.andThen(listener);
    }

    /** Called after a step of the store. */
    void applied(Command command, Reply reply, List<ResourceInfo> now, SimLink from, long micros) {
        Step step = new Step(command, reply, from, micros, new HashMap<>());
        noteSession(step);
        noteLatch(step);
        now.forEach(info -> compare(info, step));
        resourceRecords
                .values()
                .forEach(
                        resourceRecord -> resourceRecord.forEach(record -> dropIfAbsent(resourceRecord, record, step)));
        noteWithdrawal(command);
        noteLeases(step);
        List<ClaimRecord> granted = new ArrayList<>();
        now.forEach(info -> noteGrants(info, granted, micros));
        // Last, because listeners may use the store.
        granted.forEach(record -> onGrant.accept(record.ref.resource().value(), record));
    }

    /** Called when the store has lost its data. */
    void forget() {
        hadAmnesia = true;
        resourceRecords
                .values()
                .forEach(resourceRecord -> resourceRecord.forEach(record -> end(resourceRecord, record, End.AMNESIA)));
        sessions.values().forEach(session -> session.isOver = true);
        latches.values().forEach(LatchRecord::forget);
    }

    // ---- Sessions

    private void noteSession(Step step) {
        if (step.reply() instanceof Reply.SessionOpened opened) {
            long ttl = micros(opened.ttl());
            ClaimRecord.Session fresh =
                    new ClaimRecord.Session(opened.session(), step.from(), ttl, step.micros() + ttl);
            if (sessions.put(opened.session(), fresh) != null) {
                world.fail(Rule.NO_REVIVAL, "the store gave the session " + opened.session() + " a second time");
            }
        } else if (step.command() instanceof Command.KeepAlive alive && step.reply() instanceof Reply.SessionAlive) {
            ClaimRecord.Session session = session(alive.session());
            if (session.isDeadAt(step.micros())) {
                world.fail(
                        Rule.NO_REVIVAL,
                        "a keep-alive brought back " + alive.session() + ", which had ended "
                                + (step.micros() - session.deadlineMicros) + " us before");
            }
            session.deadlineMicros = step.micros() + session.ttlMicros;
        }
    }

    // ---- New claims

    private void compare(ResourceInfo info, Step step) {
        ResourceRecord resourceRecord =
                resourceRecords.computeIfAbsent(info.name().value(), name -> open(info));
        resourceRecord.update(info.spec());
        for (ResourceInfo.Party party : info.holders()) {
            ClaimRecord record = see(party, resourceRecord, step);
            if (record.isOverTimeAt(step.micros()) && (!isPassive || concerns(step.command(), info.name()))) {
                world.fail(Rule.DEAD_GIVE_WAY, "the store keeps " + record + " as a holder, though its time is over");
            }
        }
        for (ResourceInfo.Party party : info.waiters()) {
            ClaimRecord record = see(party, resourceRecord, step);
            if (resourceRecord.isShutOut(record, step.micros())) {
                world.fail(Rule.PASSED_TOGETHER, record + " waits for a latch that is open");
            }
            if (record.weight > info.spec().capacity()) {
                world.fail(
                        Rule.RESIZED,
                        record + " waits, but there are only " + info.spec().capacity() + " in all");
            }
        }
    }

    private ResourceRecord open(ResourceInfo info) {
        boolean isLatch = info.spec().kind() == Kind.LATCH;
        return new ResourceRecord(world, info, isLatch ? latch(info.name().value()) : null);
    }

    private void noteLatch(Step step) {
        if (step.command() instanceof Command.OnResource on) {
            LatchRecord latch = latches.get(on.resource().value());
            if (latch != null) {
                latch.applied(step.command(), step.reply(), step.from().process());
            }
        }
    }

    private ClaimRecord see(ResourceInfo.Party party, ResourceRecord resourceRecord, Step step) {
        ClaimRef ref = party.claim();
        ClaimRecord record = records.get(ref);
        if (record != null && claims(step.command(), ref) && mayBeMadeAgain(record, step.micros())) {
            // It ended before its claimant learned of it, and the claimant asks again: a new claim by the rules of
            // the SPI.
            end(resourceRecord, record, record.end == null ? End.TIME : record.end);
            record = null;
        }
        if (record == null) {
            record = make(ref, resourceRecord, step);
            record.weight = party.weight();
        } else if (record.end != null) {
            Rule rule = switch (record.end) {
                case TIME -> Rule.NO_REVIVAL;
                case WITHDRAWAL -> Rule.GIVEN_UP;
                default -> Rule.NOTHING_OLD;
            };
            world.fail(rule, record + " stands at the store again");
        }
        checkWeight(record, party.weight(), step);
        step.present().put(ref, record);
        return record;
    }

    /**
     * A grant keeps its weight until part of it is released; then it has the requested weight, however often the
     * command arrives.
     */
    private void checkWeight(ClaimRecord record, int weight, Step step) {
        int expected = record.weight;
        if (step.command() instanceof Command.ShrinkTo shrink && shrink.claim().equals(record.ref)) {
            coverage.hit(expected <= shrink.weight() ? CoveragePoint.SHRUNK_AGAIN : CoveragePoint.SHRUNK);
            expected = Math.min(expected, shrink.weight());
        }
        if (weight != expected) {
            world.fail(Rule.SHRUNK, record + " should have " + expected + ", but has " + weight);
        }
        record.weight = weight;
    }

    private ClaimRecord make(ClaimRef ref, ResourceRecord resourceRecord, Step step) {
        ClaimRecord record = new ClaimRecord(ref, session(ref.session()), ++places, world.now());
        records.put(ref, record);
        resourceRecord.queue(record);
        record.isDetached = isDetached(step.command());
        if (!claims(step.command(), ref)) {
            world.fail(Rule.NOTHING_OLD, ref + " stands at the store, and was not asked for by this step");
        }
        if (record.session.isDeadAt(step.micros())) {
            world.fail(Rule.NO_REVIVAL, ref + " was made under a session that had ended");
        }
        return record;
    }

    private static boolean mayBeMadeAgain(ClaimRecord record, long micros) {
        boolean isResized = record.end == End.RESIZING;
        boolean isOver =
                isResized || record.end == End.TIME || (record.state == State.HELD && record.leaseEndMicros <= micros);
        return isOver && !record.wasServed && !record.session.isDeadAt(micros);
    }

    private static boolean concerns(Command command, ResourceName resource) {
        if (command instanceof Command.Poll poll) {
            return poll.claims().stream().anyMatch(claim -> claim.resource().equals(resource));
        }
        return command instanceof Command.OnResource on && on.resource().equals(resource);
    }

    private static boolean isDetached(Command command) {
        return command instanceof Command.Claiming claiming
                && claiming.request().lease().binding() == Lease.Binding.DETACHED;
    }

    private static boolean claims(Command command, ClaimRef ref) {
        return command instanceof Command.Claiming claiming
                && claiming.request().claim().equals(ref);
    }

    // ---- Absent claims

    private void dropIfAbsent(ResourceRecord resourceRecord, ClaimRecord record, Step step) {
        if (step.present().containsKey(record.ref)) {
            return;
        }
        End why = why(record, step);
        if (why == null) {
            world.fail(
                    Rule.NOT_ANOTHERS,
                    record + " has vanished from the store, though nobody with a right to it ended it: "
                            + step.command() + " -> " + step.reply());
            return;
        }
        if (why == End.WITHDRAWAL && record.state == State.HELD && !record.wasServed) {
            coverage.hit(CoveragePoint.LATE_GRANT_UNDONE);
        } else if (why == End.TIME && record.state == State.WAITING) {
            coverage.hit(CoveragePoint.DEAD_WAITER_SKIPPED);
        } else if (why == End.TIME && record.outlivesSession() && record.session.isDeadAt(step.micros())) {
            coverage.hit(CoveragePoint.OUTLIVED_ITS_SESSION);
        } else if (why == End.RESIZING) {
            coverage.hit(CoveragePoint.WAITER_TOO_HEAVY);
        }
        end(resourceRecord, record, why);
    }

    /** The reason why the store may drop a claim in a step; null if there is none. */
    private @Nullable End why(ClaimRecord record, Step step) {
        Command command = step.command();
        boolean isOverTime = record.isOverTimeAt(step.micros());
        End byCommand = null;
        if (command instanceof Command.CloseSession close && close.session().equals(record.ref.session())) {
            byCommand = record.outlivesSession() ? null : End.CLOSE;
        } else if (command instanceof Command.ForceRelease force && step.reply() instanceof Reply.Released) {
            byCommand = !isOverTime && isMeant(force, record) ? End.FORCE : null;
        } else if (command instanceof Command.Resize resize && record.state == State.WAITING) {
            byCommand = resize.capacity() < record.weight ? End.RESIZING : null;
        } else if (command instanceof Command.OnClaim claim && claim.claim().equals(record.ref)) {
            if (command instanceof Command.Release) {
                boolean isOwners = step.from().process() == record.session.owner.process();
                byCommand = isOwners || record.isGivenAway ? End.RELEASE : null;
            } else if (command instanceof Command.Withdraw) {
                byCommand = End.WITHDRAWAL;
            } else if (command instanceof Command.Yield && isMade(step.reply())) {
                byCommand = End.YIELD;
            }
        }
        return byCommand == null && isOverTime ? End.TIME : byCommand;
    }

    private boolean isMeant(Command.ForceRelease force, ClaimRecord record) {
        return grantOf(force.resource().value(), force.token()) == record;
    }

    private static boolean isMade(Reply reply) {
        return reply instanceof Reply.Granted || reply instanceof Reply.Queued;
    }

    private static void end(ResourceRecord resourceRecord, ClaimRecord record, End why) {
        resourceRecord.remove(record);
        record.state = State.ENDED;
        record.end = why;
    }

    /** A claim that was withdrawn before it arrived must never take effect. */
    private void noteWithdrawal(Command command) {
        if (command instanceof Command.Withdraw withdraw && !records.containsKey(withdraw.claim())) {
            ClaimRecord.Session session = sessions.get(withdraw.claim().session());
            if (session != null) {
                ClaimRecord record = new ClaimRecord(withdraw.claim(), session, ++places, world.now());
                record.state = State.ENDED;
                record.end = End.WITHDRAWAL;
                records.put(record.ref, record);
            }
        }
    }

    // ---- Leases and grants

    private void noteLeases(Step step) {
        Command command = step.command();
        if (command instanceof Command.Claiming claiming) {
            noteLease(claiming.request().claim(), step.reply(), step.micros());
        } else if (command instanceof Command.Extend extend && step.reply() instanceof Reply.Extended extended) {
            noteLease(extend.claim(), extended.remaining(), step.micros());
        } else if (command instanceof Command.Poll poll && step.reply() instanceof Reply.Polled polled) {
            for (int i = 0; i < poll.claims().size(); i++) {
                noteLease(poll.claims().get(i), polled.states().get(i), step.micros());
            }
        }
    }

    private void noteLease(ClaimRef ref, Reply reply, long micros) {
        if (reply instanceof Reply.Granted granted && granted.remaining().isPresent()) {
            noteLease(ref, granted.remaining().get(), micros);
        }
    }

    private void noteLease(ClaimRef ref, Duration remaining, long micros) {
        ClaimRecord record = records.get(ref);
        if (record != null) {
            record.leaseEndMicros = micros + micros(remaining);
            record.isPickedUp = true;
        }
    }

    private void noteGrants(ResourceInfo info, List<ClaimRecord> granted, long micros) {
        ResourceRecord resourceRecord = resourceRecords.get(info.name().value());
        if (resourceRecord == null) {
            return;
        }
        for (ResourceInfo.Party party : info.holders()) {
            ClaimRecord record = records.get(party.claim());
            if (record != null && record.state == State.WAITING) {
                record.state = State.HELD;
                resourceRecord.grant(record, micros);
                record.grant = ++grants;
                granted.add(record);
            }
        }
        // A step may admit one claim and then give more tokens to an earlier one.
        info.holders().stream()
                .filter(party -> party.tokens().isPresent())
                .sorted(Comparator.comparing(
                        party -> party.tokens().orElseThrow().first()))
                .forEach(party -> noteBlock(resourceRecord, party));
    }

    private void noteBlock(ResourceRecord resourceRecord, ResourceInfo.Party party) {
        ClaimRecord record = records.get(party.claim());
        TokenBlock block = party.tokens().orElseThrow();
        if (record != null && record.state == State.HELD) {
            boolean hasMore = resourceRecord.noteBlock(record, block.first(), block.last());
            if (hasMore && hadAmnesia) {
                coverage.hit(CoveragePoint.TOKENS_FROM_THE_FLOOR);
            }
        }
    }

    // ---- Queries

    LatchRecord latch(String name) {
        return latches.computeIfAbsent(name, fresh -> new LatchRecord(world, coverage, fresh));
    }

    /** The grant whose block had a token, however long ago; null if there never was one. */
    @Nullable
    ClaimRecord grantOf(String resource, long token) {
        ResourceRecord resourceRecord = resourceRecords.get(resource);
        return resourceRecord == null ? null : resourceRecord.grantOf(token);
    }

    @Nullable
    ClaimRecord grantOf(Holding holding) {
        return grantOf(holding.resource.name(), holding.token);
    }

    /** Whether the grant of a token is still in force, by the store's clock. */
    boolean isInForce(String resource, long token, long micros) {
        ClaimRecord record = grantOf(resource, token);
        return record != null && record.isHeldAt(micros);
    }

    /**
     * Whether a grant was released behind the client's back, or may be at any time: then the promise is only to report
     * that within a ttl.
     */
    boolean wasTakenAway(Holding holding) {
        ClaimRecord grant = grantOf(holding);
        return holding.isGivenAway || (grant != null && grant.end == End.FORCE);
    }

    /** From now on any client may release the grant of a hold. */
    void giveAway(Holding holding) {
        ClaimRecord grant = grantOf(holding);
        if (grant != null) {
            grant.isGivenAway = true;
        }
    }

    /** The greatest capacity that a resource has had. */
    int greatestCapacity(String resource) {
        ResourceRecord resourceRecord = resourceRecords.get(resource);
        return resourceRecord == null ? Integer.MAX_VALUE : resourceRecord.greatestCapacity();
    }

    /** Whether a capacity was ever lower than a request. */
    boolean wasEverTooHeavy(List<AcquireIntent.Part> parts) {
        for (AcquireIntent.Part part : parts) {
            ResourceRecord resourceRecord = resourceRecords.get(part.resource().name());
            if (resourceRecord != null && resourceRecord.smallestCapacity() < part.weight()) {
                return true;
            }
        }
        return false;
    }

    boolean isEnded(ClaimRef ref) {
        ClaimRecord record = records.get(ref);
        return record != null && record.state == State.ENDED;
    }

    boolean isSessionOver(SessionId id, long micros) {
        ClaimRecord.Session session = sessions.get(id);
        return session == null || session.isDeadAt(micros);
    }

    boolean anyHeld() {
        return resourceRecords.values().stream().anyMatch(ResourceRecord::isHeld);
    }

    /** The live claims at the store, for a message; empty if there are none. */
    String leftovers(long micros) {
        StringBuilder text = new StringBuilder();
        resourceRecords
                .values()
                .forEach(resourceRecord -> resourceRecord.forEach(record -> {
                    if (!record.isOverTimeAt(micros)) {
                        text.append(record).append("; ");
                    }
                }));
        return text.toString();
    }

    /** Checks that a process that neither holds nor waits has no claim. */
    void checkNothingOf(SimProcess process, String resource, long micros) {
        ResourceRecord resourceRecord = resourceRecords.get(resource);
        if (resourceRecord != null) {
            resourceRecord.checkNothingOf(process, micros);
        }
    }

    /** Checks that no live claim of another process waits for a resource for longer than the bound. */
    void checkNobodyPassed(SimProcess process, String resource, long micros, long boundNanos) {
        ResourceRecord resourceRecord = resourceRecords.get(resource);
        if (resourceRecord != null) {
            resourceRecord.checkNobodyPassed(process, micros, boundNanos);
        }
    }

    /** Checks that no resource with waiters is free for longer than the bound. */
    void checkProgress(long micros, long boundNanos) {
        resourceRecords.values().forEach(resourceRecord -> resourceRecord.checkProgress(micros, boundNanos));
    }

    private ClaimRecord.Session session(SessionId id) {
        ClaimRecord.Session known = sessions.get(id);
        if (known == null) {
            throw new IllegalStateException("The store knows a session that it never gave: " + id);
        }
        return known;
    }

    private static long micros(Duration duration) {
        return (duration.toNanos() + 999) / 1_000;
    }
}
