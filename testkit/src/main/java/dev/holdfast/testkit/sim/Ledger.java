package dev.holdfast.testkit.sim;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.testkit.sim.ClaimRecord.End;
import dev.holdfast.testkit.sim.ClaimRecord.State;
import java.time.Duration;
import java.util.ArrayList;
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
    private record Step(Command command, Reply reply, long micros, Map<ClaimRef, ClaimRecord> present) {}

    private final World world;
    private final boolean isFair;
    private final boolean isPassive;
    private final Reached reached;
    private final Map<SessionId, ClaimRecord.Session> sessions = new HashMap<>();
    private final Map<ClaimRef, ClaimRecord> records = new HashMap<>();
    private final Map<String, Book> books = new LinkedHashMap<>();
    private BiConsumer<String, ClaimRecord> onGrant = (resource, record) -> {};
    private long places;
    private long grants;
    private boolean hadAmnesia;

    /**
     * Opens a ledger.
     *
     * @param isFair whether claims are granted in the order in which they came
     * @param isPassive as in {@link SimStore#isPassive()}
     */
    Ledger(World world, boolean isFair, boolean isPassive, Reached reached) {
        this.world = world;
        this.isFair = isFair;
        this.isPassive = isPassive;
        this.reached = reached;
    }

    /** Who is told of each grant, at the instant at which the store makes it. */
    void onGrant(BiConsumer<String, ClaimRecord> listener) {
        onGrant = listener;
    }

    /** A step of the store is over. */
    void applied(Command command, Reply reply, List<ResourceInfo> now, SimLink from, long micros) {
        Step step = new Step(command, reply, micros, new HashMap<>());
        noteSession(step, from);
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
    }

    // ---- Sessions

    private void noteSession(Step step, SimLink from) {
        if (step.reply() instanceof Reply.SessionOpened opened) {
            long ttl = micros(opened.ttl());
            ClaimRecord.Session fresh = new ClaimRecord.Session(opened.session(), from, ttl, step.micros() + ttl);
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
        Book book = book(info.name().value());
        long weight = 0;
        for (ResourceInfo.Party party : info.holders()) {
            weight += party.weight();
            ClaimRecord record = see(party.claim(), book, step);
            if (record.isOverTimeAt(step.micros()) && (!isPassive || concerns(step.command(), info.name()))) {
                world.fail(Rule.DEAD_GIVE_WAY, "the store keeps " + record + " as a holder, though its time is over");
            }
        }
        if (weight > info.spec().capacity()) {
            world.fail(Rule.ONE_HOLDER, info.holders().size() + " hold " + info.name() + " at once: " + info.holders());
        }
        info.waiters().forEach(party -> see(party.claim(), book, step));
    }

    private ClaimRecord see(ClaimRef ref, Book book, Step step) {
        ClaimRecord record = records.get(ref);
        if (record != null && claims(step.command(), ref) && hasRunOut(record, step.micros())) {
            // Its own lease ended before its claimant heard of it, who asks again: a new claim by the rules of the SPI.
            end(book, record, End.TIME);
            record = null;
        }
        if (record == null) {
            record = make(ref, book, step);
        } else if (record.end != null) {
            Rule rule = switch (record.end) {
                case TIME -> Rule.NO_REVIVAL;
                case WITHDRAWAL -> Rule.GIVEN_UP;
                default -> Rule.NOTHING_OLD;
            };
            world.fail(rule, record + " stands at the store again");
        }
        step.present().put(ref, record);
        return record;
    }

    private ClaimRecord make(ClaimRef ref, Book book, Step step) {
        ClaimRecord record = new ClaimRecord(ref, session(ref.session()), ++places);
        records.put(ref, record);
        book.queue(record);
        if (!claims(step.command(), ref)) {
            world.fail(Rule.NOTHING_OLD, ref + " stands at the store, and was not asked for by this step");
        }
        if (record.session.isDeadAt(step.micros())) {
            world.fail(Rule.NO_REVIVAL, ref + " was made under a session that had ended");
        }
        return record;
    }

    private static boolean hasRunOut(ClaimRecord record, long micros) {
        boolean isOver = record.end == End.TIME || (record.state == State.HELD && record.leaseEndMicros <= micros);
        return isOver && !record.wasServed && !record.session.isDeadAt(micros);
    }

    private static boolean concerns(Command command, ResourceName resource) {
        if (command instanceof Command.Poll poll) {
            return poll.claims().stream().anyMatch(claim -> claim.resource().equals(resource));
        }
        return command instanceof Command.OnResource on && on.resource().equals(resource);
    }

    private static boolean claims(Command command, ClaimRef ref) {
        if (command instanceof Command.Acquire acquire) {
            return acquire.claim().equals(ref);
        }
        return command instanceof Command.Yield yield && yield.next().claim().equals(ref);
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
        }
        end(book, record, why);
    }

    /** What gave the store the right to drop a claim in a step; null if nothing did. */
    private static @Nullable End why(ClaimRecord record, Step step) {
        Command command = step.command();
        boolean isOverTime = record.isOverTimeAt(step.micros());
        if (command instanceof Command.CloseSession close && close.session().equals(record.ref.session())) {
            return End.CLOSE;
        } else if (command instanceof Command.ForceRelease && step.reply() instanceof Reply.Released && !isOverTime) {
            return record.state == State.HELD ? End.FORCE : null;
        } else if (command instanceof Command.OnClaim claim && claim.claim().equals(record.ref)) {
            if (command instanceof Command.Release) {
                return End.RELEASE;
            } else if (command instanceof Command.Withdraw) {
                return End.WITHDRAWAL;
            } else if (command instanceof Command.Yield && isMade(step.reply())) {
                return End.YIELD;
            }
        }
        return isOverTime ? End.TIME : null;
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
        if (command instanceof Command.Acquire acquire) {
            noteLease(acquire.claim(), step.reply(), step.micros());
        } else if (command instanceof Command.Yield yield) {
            noteLease(yield.next().claim(), step.reply(), step.micros());
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
        }
    }

    private void noteGrants(ResourceInfo info, List<ClaimRecord> granted, long micros) {
        Book book = book(info.name().value());
        for (ResourceInfo.Party party : info.holders()) {
            ClaimRecord record = records.get(party.claim());
            if (record == null || record.state == State.ENDED) {
                continue;
            }
            if (record.state == State.WAITING) {
                book.grant(record, isFair, micros);
                record.state = State.HELD;
                record.grant = ++grants;
                granted.add(record);
            }
            boolean hasMore = party.tokens()
                    .map(block -> book.noteBlock(record, block.first(), block.last()))
                    .orElse(false);
            if (hasMore && hadAmnesia) {
                reached.hit(Reach.TOKENS_FROM_THE_FLOOR);
            }
        }
    }

    // ---- Questions

    /** The grant that a token was given to, however long ago; null if it never was. */
    @Nullable
    ClaimRecord grantOf(String resource, long token) {
        return book(resource).grantOf(token);
    }

    /** Whether the grant of a token is still in force, by the store's clock. */
    boolean isInForce(String resource, long token, long micros) {
        ClaimRecord record = grantOf(resource, token);
        return record != null && record.state == State.HELD && !record.isOverTimeAt(micros);
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
        book(resource).checkNothingOf(process, micros);
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

    private Book book(String resource) {
        return books.computeIfAbsent(resource, name -> new Book(world, name));
    }

    private static long micros(Duration duration) {
        return (duration.toNanos() + 999) / 1_000;
    }
}
