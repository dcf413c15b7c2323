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
 * Watches the store from outside: keeps its own record of sessions, claims and tokens from the commands and the
 * answers, and compares it after each step with what the store says it holds. Judges the rules that concern the store
 * alone.
 */
final class Ledger {

    /** A step of the store, and what it shows of itself after it. */
    private record Step(Command command, Reply reply, SimLink from, long micros, Map<ClaimRef, ClaimRecord> present) {}

    private final World world;
    private final boolean isPassive;
    private final Reached reached;
    private final Map<SessionId, ClaimRecord.Session> sessions = new HashMap<>();
    private final Map<ClaimRef, ClaimRecord> records = new HashMap<>();
    private final Map<String, Book> books = new LinkedHashMap<>();
    private final Map<String, LatchBook> latches = new LinkedHashMap<>();
    private BiConsumer<String, ClaimRecord> onGrant = (resource, record) -> {};
    private long places;
    private long grants;
    private boolean hadAmnesia;

    /**
     * Opens a ledger.
     *
     * @param isPassive as in {@link SimStore#isPassive()}
     */
    Ledger(World world, boolean isPassive, Reached reached) {
        this.world = world;
        this.isPassive = isPassive;
        this.reached = reached;
    }

    /** Who is told of each grant, at the instant at which the store makes it. */
    void onGrant(BiConsumer<String, ClaimRecord> listener) {
        onGrant = onGrant.andThen(listener);
    }

    /** A step of the store is over. */
    void applied(Command command, Reply reply, List<ResourceInfo> now, SimLink from, long micros) {
        Step step = new Step(command, reply, from, micros, new HashMap<>());
        noteSession(step);
        noteLatch(step);
        now.forEach(info -> compare(info, step));
        books.values().forEach(book -> book.forEach(record -> dropIfAbsent(book, record, step)));
        noteWithdrawal(command);
        noteLeases(step);
        List<ClaimRecord> granted = new ArrayList<>();
        now.forEach(info -> noteGrants(info, granted, micros));
        // Told last, because who is told may ask the store for something else.
        granted.forEach(record -> onGrant.accept(record.ref.resource().value(), record));
    }

    /** The store has come back empty. */
    void forget() {
        hadAmnesia = true;
        books.values().forEach(book -> book.forEach(record -> end(book, record, End.AMNESIA)));
        sessions.values().forEach(session -> session.isOver = true);
        latches.values().forEach(LatchBook::forget);
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

    // ---- What is new

    private void compare(ResourceInfo info, Step step) {
        Book book = books.computeIfAbsent(info.name().value(), name -> open(info));
        book.update(info.spec());
        for (ResourceInfo.Party party : info.holders()) {
            ClaimRecord record = see(party, book, step);
            if (record.isOverTimeAt(step.micros()) && (!isPassive || concerns(step.command(), info.name()))) {
                world.fail(Rule.DEAD_GIVE_WAY, "the store keeps " + record + " as a holder, though its time is over");
            }
        }
        for (ResourceInfo.Party party : info.waiters()) {
            ClaimRecord record = see(party, book, step);
            if (book.isShutOut(record, step.micros())) {
                world.fail(Rule.PASSED_TOGETHER, record + " waits for a latch that is open");
            }
            if (record.weight > info.spec().capacity()) {
                world.fail(
                        Rule.RESIZED,
                        record + " waits, but there are only " + info.spec().capacity() + " in all");
            }
        }
    }

    private Book open(ResourceInfo info) {
        boolean isLatch = info.spec().kind() == Kind.LATCH;
        return new Book(world, info, isLatch ? latch(info.name().value()) : null);
    }

    private void noteLatch(Step step) {
        if (step.command() instanceof Command.OnResource on) {
            LatchBook latch = latches.get(on.resource().value());
            if (latch != null) {
                latch.applied(step.command(), step.reply(), step.from().process());
            }
        }
    }

    private ClaimRecord see(ResourceInfo.Party party, Book book, Step step) {
        ClaimRef ref = party.claim();
        ClaimRecord record = records.get(ref);
        if (record != null && claims(step.command(), ref) && mayBeMadeAgain(record, step.micros())) {
            // It ended before its claimant heard of it, who asks again: a new claim by the rules of the SPI.
            end(book, record, record.end == null ? End.TIME : record.end);
            record = null;
        }
        if (record == null) {
            record = make(ref, book, step);
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

    /** A grant keeps its weight, until part of it is given back: then it has what was asked for, however often. */
    private void checkWeight(ClaimRecord record, int weight, Step step) {
        int expected = record.weight;
        if (step.command() instanceof Command.ShrinkTo shrink && shrink.claim().equals(record.ref)) {
            reached.hit(expected <= shrink.weight() ? Reach.SHRUNK_AGAIN : Reach.SHRUNK);
            expected = Math.min(expected, shrink.weight());
        }
        if (weight != expected) {
            world.fail(Rule.SHRUNK, record + " should have " + expected + ", but has " + weight);
        }
        record.weight = weight;
    }

    private ClaimRecord make(ClaimRef ref, Book book, Step step) {
        ClaimRecord record = new ClaimRecord(ref, session(ref.session()), ++places);
        records.put(ref, record);
        book.queue(record);
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

    // ---- What is gone

    private void dropIfAbsent(Book book, ClaimRecord record, Step step) {
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
            reached.hit(Reach.LATE_GRANT_UNDONE);
        } else if (why == End.TIME && record.state == State.WAITING) {
            reached.hit(Reach.DEAD_WAITER_SKIPPED);
        } else if (why == End.TIME && record.outlivesSession() && record.session.isDeadAt(step.micros())) {
            reached.hit(Reach.OUTLIVED_ITS_SESSION);
        } else if (why == End.RESIZING) {
            reached.hit(Reach.WAITER_TOO_HEAVY);
        }
        end(book, record, why);
    }

    /** What gave the store the right to drop a claim in a step; null if nothing did. */
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

    private static void end(Book book, ClaimRecord record, End why) {
        book.remove(record);
        record.state = State.ENDED;
        record.end = why;
    }

    /** What was withdrawn before it arrived must never arrive with an effect. */
    private void noteWithdrawal(Command command) {
        if (command instanceof Command.Withdraw withdraw && !records.containsKey(withdraw.claim())) {
            ClaimRecord.Session session = sessions.get(withdraw.claim().session());
            if (session != null) {
                ClaimRecord record = new ClaimRecord(withdraw.claim(), session, ++places);
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
        Book book = books.get(info.name().value());
        if (book == null) {
            return;
        }
        for (ResourceInfo.Party party : info.holders()) {
            ClaimRecord record = records.get(party.claim());
            if (record != null && record.state == State.WAITING) {
                record.state = State.HELD;
                book.grant(record, micros);
                record.grant = ++grants;
                granted.add(record);
            }
        }
        // A step may admit one and then give another more tokens, who was there before.
        info.holders().stream()
                .filter(party -> party.tokens().isPresent())
                .sorted(Comparator.comparing(
                        party -> party.tokens().orElseThrow().first()))
                .forEach(party -> noteBlock(book, party));
    }

    private void noteBlock(Book book, ResourceInfo.Party party) {
        ClaimRecord record = records.get(party.claim());
        TokenBlock block = party.tokens().orElseThrow();
        if (record != null && record.state == State.HELD) {
            boolean hasMore = book.noteBlock(record, block.first(), block.last());
            if (hasMore && hadAmnesia) {
                reached.hit(Reach.TOKENS_FROM_THE_FLOOR);
            }
        }
    }

    // ---- Questions

    LatchBook latch(String name) {
        return latches.computeIfAbsent(name, fresh -> new LatchBook(world, reached, fresh));
    }

    /** The grant that a token was given to, however long ago; null if it never was. */
    @Nullable
    ClaimRecord grantOf(String resource, long token) {
        Book book = books.get(resource);
        return book == null ? null : book.grantOf(token);
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
     * Whether a hold's grant was taken away behind the client's back, or may be at any time: the promise then is to
     * tell it within a ttl, and no more.
     */
    boolean wasTakenAway(Holding holding) {
        ClaimRecord grant = grantOf(holding);
        return holding.isGivenAway || (grant != null && grant.end == End.FORCE);
    }

    /** From now on anybody may give back the grant of a hold. */
    void giveAway(Holding holding) {
        ClaimRecord grant = grantOf(holding);
        if (grant != null) {
            grant.isGivenAway = true;
        }
    }

    /** The most that there has been of a resource. */
    int greatestCapacity(String resource) {
        Book book = books.get(resource);
        return book == null ? Integer.MAX_VALUE : book.greatestCapacity();
    }

    /** Whether there has been a time when there was less than somebody asks for. */
    boolean wasEverTooHeavy(List<Wish.Part> parts) {
        for (Wish.Part part : parts) {
            Book book = books.get(part.resource().name());
            if (book != null && book.smallestCapacity() < part.weight()) {
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
        return books.values().stream().anyMatch(Book::isHeld);
    }

    /** What stands at the store now and whose time is not over, in words; empty if nothing does. */
    String leftovers(long micros) {
        StringBuilder text = new StringBuilder();
        books.values()
                .forEach(book -> book.forEach(record -> {
                    if (!record.isOverTimeAt(micros)) {
                        text.append(record).append("; ");
                    }
                }));
        return text.toString();
    }

    /** A process that neither holds nor waits has no claim. */
    void checkNothingOf(SimProcess process, String resource, long micros) {
        Book book = books.get(resource);
        if (book != null) {
            book.checkNothingOf(process, micros);
        }
    }

    /** No resource may be free for longer than the bound while somebody waits for it. */
    void checkProgress(long micros, long boundNanos) {
        books.values().forEach(book -> book.checkProgress(micros, boundNanos));
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
