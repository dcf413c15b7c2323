package dev.holdfast.testkit.sim;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Watches the store from outside: keeps its own record of sessions, claims and tokens from the commands and the answers, and compares it after each step with what the
 * store says it holds. Judges the rules that concern the store alone.
 */
final class Ledger {

    /** What the ledger has written down about one resource. */
    private static final class Book {
        final Map<ClaimRef, ClaimRecord> waiting = new LinkedHashMap<>();
        final Map<ClaimRef, ClaimRecord> held = new LinkedHashMap<>();
        /** Every grant there was, by the first token of each of its blocks. */
        final NavigableMap<Long, ClaimRecord> tokens = new TreeMap<>();

        long lastToken;
        long freeSince = Long.MAX_VALUE;
    }

    private final World world;
    private final boolean isFair;
    private final Reached reached;
    private final Map<SessionId, ClaimRecord.Session> sessions = new HashMap<>();
    private final Map<ClaimRef, ClaimRecord> records = new HashMap<>();
    private final Map<String, Book> books = new LinkedHashMap<>();
    private BiConsumer<String, ClaimRecord> onGrant = (resource, record) -> {};
    private final List<ClaimRecord> granted = new ArrayList<>();
    private long places;
    private long grants;
    private long lastMicros;
    private boolean hadAmnesia;

    Ledger(World world, boolean isFair, Reached reached) {
        this.world = world;
        this.isFair = isFair;
        this.reached = reached;
    }

    /** Who is told of each grant, at the instant at which the store makes it. */
    void onGrant(BiConsumer<String, ClaimRecord> listener) {
        onGrant = listener;
    }

    /** A step of the store is over. */
    void applied(Command command, Reply reply, List<ResourceInfo> now, SimLink from, long micros) {
        lastMicros = micros;
        noteSession(command, reply, from, micros);
        Map<ClaimRef, ClaimRecord> seen = new HashMap<>();
        for (ResourceInfo info : now) {
            compare(info, command, seen, micros);
        }
        for (Book book : books.values()) {
            dropUnseen(book.held, seen, command, reply, micros);
            dropUnseen(book.waiting, seen, command, reply, micros);
        }
        noteEnds(command);
        noteLeases(command, reply, micros);
        granted.clear();
        for (ResourceInfo info : now) {
            admitNew(info, micros);
        }
        // Told last, because who is told may ask the store for something else.
        for (ClaimRecord record : List.copyOf(granted)) {
            onGrant.accept(record.ref.resource().value(), record);
        }
    }

    /** The store has come back empty. */
    void forget() {
        hadAmnesia = true;
        for (Book book : books.values()) {
            if (!book.held.isEmpty()) {
                book.held.values().forEach(record -> end(record, "amnesia"));
            }
            book.waiting.values().forEach(record -> end(record, "amnesia"));
            book.held.clear();
            book.waiting.clear();
        }
        sessions.values().forEach(session -> session.isOver = true);
    }

    // What a step may do

    private void noteSession(Command command, Reply reply, SimLink from, long micros) {
        if (reply instanceof Reply.SessionOpened opened) {
            long ttl = micros(opened.ttl());
            ClaimRecord.Session known =
                    sessions.put(opened.session(), new ClaimRecord.Session(opened.session(), from, ttl, micros + ttl));
            if (known != null) {
                world.fail("I12 no revival", "the store gave the session " + opened.session() + " a second time");
            }
        } else if (command instanceof Command.KeepAlive alive && reply instanceof Reply.SessionAlive) {
            ClaimRecord.Session session = session(alive.session());
            if (session.isDeadAt(micros)) {
                world.fail(
                        "I12 no revival",
                        "a keep-alive brought back " + alive.session() + ", which had ended "
                                + (micros - session.deadlineMicros) + " us before");
            }
            session.deadlineMicros = micros + session.ttlMicros;
        } else if (command instanceof Command.Retire retire) {
            ClaimRecord.Session session = sessions.get(retire.session());
            if (session != null) {
                session.isRetired = true;
            }
        }
    }

    /** Finds what is new; what is there no more is found by its absence. */
    private void compare(ResourceInfo info, Command command, Map<ClaimRef, ClaimRecord> seen, long micros) {
        Book book = book(info.name().value());
        long weight = 0;
        for (ResourceInfo.Party party : info.holders()) {
            weight += party.weight();
            ClaimRecord record = seen(party, book, command, seen, micros);
            if (record.isOverTimeAt(micros)) {
                world.fail(
                        "I8 the dead give way", "the store keeps " + record + " as a holder, though its time is over");
            }
        }
        if (weight > info.spec().capacity()) {
            world.fail(
                    "I1 exclusion in the order of the store",
                    info.holders().size() + " hold " + info.name() + " at once: " + info.holders());
        }
        for (ResourceInfo.Party party : info.waiters()) {
            seen(party, book, command, seen, micros);
        }
    }

    private ClaimRecord seen(
            ResourceInfo.Party party, Book book, Command command, Map<ClaimRef, ClaimRecord> seen, long micros) {
        ClaimRef ref = party.claim();
        ClaimRecord record = records.get(ref);
        if (record != null && claims(command, ref) && hasRunOut(record, micros)) {
            // Its own lease ended before its claimant heard of it, who asks again: a new claim by the rules of the SPI.
            end(record, "its time");
            book.held.remove(ref);
            record = null;
        }
        if (record == null) {
            record = new ClaimRecord(ref, session(ref.session()), ++places);
            records.put(ref, record);
            book.waiting.put(ref, record);
            if (!claims(command, ref)) {
                world.fail(
                        "I10 a request takes effect once",
                        ref + " stands at the store, and was not asked for by this step");
            }
            if (record.session.isDeadAt(micros)) {
                world.fail("I12 no revival", ref + " was made under a session that had ended");
            }
        } else if (record.state == ClaimRecord.State.ENDED) {
            String rule = switch (record.endedBy) {
                case "its time" -> "I12 no revival";
                case "withdrawal" -> "I11 what was withdrawn never holds";
                default -> "I10 a request takes effect once";
            };
            world.fail(rule, record + " stands at the store again");
        }
        seen.put(ref, record);
        return record;
    }

    private static boolean hasRunOut(ClaimRecord record, long micros) {
        boolean isOver = record.endedBy.equals("its time")
                || (record.state == ClaimRecord.State.HELD && record.leaseEndMicros <= micros);
        return isOver && !record.wasTouchedByApplication && !record.session.isDeadAt(micros);
    }

    private void dropUnseen(
            Map<ClaimRef, ClaimRecord> present,
            Map<ClaimRef, ClaimRecord> seen,
            Command command,
            Reply reply,
            long micros) {
        if (present.isEmpty()) {
            return;
        }
        for (ClaimRecord record : new ArrayList<>(present.values())) {
            if (seen.containsKey(record.ref)) {
                continue;
            }
            present.remove(record.ref);
            String why = why(record, command, reply, micros);
            if (why.isEmpty()) {
                world.fail(
                        "I17 nobody ends another's claim",
                        record + " has vanished from the store, though nobody with a right to it" + " ended it: "
                                + command + " -> " + reply);
            }
            end(record, why);
        }
    }

    private String why(ClaimRecord record, Command command, Reply reply, long micros) {
        ClaimRef ref = record.ref;
        if (command instanceof Command.Release release && release.claim().equals(ref)) {
            return "release";
        } else if (command instanceof Command.Withdraw withdraw
                && withdraw.claim().equals(ref)) {
            if (record.state == ClaimRecord.State.HELD && !record.wasTouchedByApplication) {
                reached.hit(Reach.LATE_GRANT_UNDONE);
            }
            return "withdrawal";
        } else if (command instanceof Command.Yield yield && yield.claim().equals(ref) && isMade(reply)) {
            return "yield";
        } else if (command instanceof Command.CloseSession close
                && close.session().equals(ref.session())) {
            return "close";
        } else if (command instanceof Command.ForceRelease && reply instanceof Reply.Released) {
            return record.state == ClaimRecord.State.HELD && !record.isOverTimeAt(micros) ? "force" : "its time";
        }
        return record.isOverTimeAt(micros) ? "its time" : "";
    }

    private static boolean isMade(Reply reply) {
        return reply instanceof Reply.Granted || reply instanceof Reply.Queued;
    }

    private void end(ClaimRecord record, String why) {
        if (record.state == ClaimRecord.State.WAITING && why.equals("its time")) {
            reached.hit(Reach.DEAD_WAITER_SKIPPED);
        }
        record.state = ClaimRecord.State.ENDED;
        record.endedBy = why;
    }

    /** What was withdrawn before it arrived must never arrive with an effect. */
    private void noteEnds(Command command) {
        if (command instanceof Command.Withdraw withdraw && !records.containsKey(withdraw.claim())) {
            ClaimRecord.Session session = sessions.get(withdraw.claim().session());
            if (session != null) {
                ClaimRecord record = new ClaimRecord(withdraw.claim(), session, ++places);
                record.state = ClaimRecord.State.ENDED;
                record.endedBy = "withdrawal";
                records.put(record.ref, record);
            }
        }
    }

    private void noteLeases(Command command, Reply reply, long micros) {
        if (command instanceof Command.Acquire acquire) {
            noteLease(acquire.claim(), reply, micros);
        } else if (command instanceof Command.Yield yield) {
            noteLease(yield.next().claim(), reply, micros);
        } else if (command instanceof Command.Extend extend && reply instanceof Reply.Extended extended) {
            noteLease(extend.claim(), extended.remaining(), micros);
        } else if (command instanceof Command.Poll poll && reply instanceof Reply.Polled polled) {
            for (int i = 0; i < poll.claims().size(); i++) {
                noteLease(poll.claims().get(i), polled.states().get(i), micros);
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

    // Grants

    private void admitNew(ResourceInfo info, long micros) {
        Book book = book(info.name().value());
        for (ResourceInfo.Party party : info.holders()) {
            ClaimRecord record = records.get(party.claim());
            if (record == null || record.state == ClaimRecord.State.ENDED) {
                continue;
            }
            if (record.state == ClaimRecord.State.WAITING) {
                admit(book, record, micros);
            }
            party.tokens().ifPresent(block -> noteBlock(book, record, block.first(), block.last()));
        }
    }

    private void admit(Book book, ClaimRecord record, long micros) {
        book.waiting.remove(record.ref);
        if (record.isOverTimeAt(micros)) {
            world.fail("I12 no revival", "the store granted " + record + ", whose session had ended");
        }
        if (isFair) {
            for (ClaimRecord other : book.waiting.values()) {
                if (other.place < record.place && !other.session.isDeadAt(micros)) {
                    world.fail("I16 first come, first served", record + " was granted before " + other);
                }
            }
        }
        record.state = ClaimRecord.State.HELD;
        record.grant = ++grants;
        book.held.put(record.ref, record);
        granted.add(record);
    }

    private void noteBlock(Book book, ClaimRecord record, long first, long last) {
        if (last == record.lastToken) {
            return;
        }
        if (first <= book.lastToken) {
            world.fail(
                    "I3 tokens rise",
                    record + " was given the tokens " + first + " to " + last + ", but " + book.lastToken
                            + " was given before");
        }
        if (hadAmnesia && book.lastToken > 0) {
            reached.hit(Reach.TOKENS_FROM_THE_FLOOR);
        }
        book.lastToken = last;
        record.firstToken = first;
        record.lastToken = last;
        book.tokens.put(first, record);
    }

    // Questions

    /** The grant that a token belongs to, however long ago; null if no grant ever had it. */
    @Nullable
    ClaimRecord grantOf(String resource, long token) {
        Map.Entry<Long, ClaimRecord> entry = book(resource).tokens.floorEntry(token);
        return entry == null ? null : entry.getValue();
    }

    /** Whether the grant of a token is still in force, by the store's clock. */
    boolean isInForce(String resource, long token, long micros) {
        ClaimRecord record = grantOf(resource, token);
        return record != null && record.state == ClaimRecord.State.HELD && !record.isOverTimeAt(micros);
    }

    boolean isEnded(ClaimRef ref) {
        ClaimRecord record = records.get(ref);
        return record != null && record.state == ClaimRecord.State.ENDED;
    }

    boolean isSessionOver(SessionId id, long micros) {
        ClaimRecord.Session session = sessions.get(id);
        return session == null || session.isDeadAt(micros);
    }

    boolean isRetired(SessionId id) {
        ClaimRecord.Session session = sessions.get(id);
        return session != null && session.isRetired;
    }

    boolean anyHeld() {
        return books.values().stream().anyMatch(book -> !book.held.isEmpty());
    }

    /** A process that neither holds nor waits has no claim. */
    void checkNothingOf(SimProcess process, String resource, long micros) {
        Book book = book(resource);
        for (Map<ClaimRef, ClaimRecord> present : List.of(book.held, book.waiting)) {
            for (ClaimRecord record : present.values()) {
                if (record.session.owner.process() == process && !record.isOverTimeAt(micros)) {
                    world.fail(
                            "I11 what was withdrawn never holds",
                            process + " neither holds nor waits for " + resource + ", but at the store stands "
                                    + record);
                }
            }
        }
    }

    /** What stands at the store now and whose time is not over, in words; empty if nothing does. */
    String leftovers(long micros) {
        StringBuilder text = new StringBuilder();
        for (Book book : books.values()) {
            book.held.values().stream()
                    .filter(r -> !r.isOverTimeAt(micros))
                    .forEach(r -> text.append(r).append("; "));
            book.waiting.values().stream()
                    .filter(r -> !r.isOverTimeAt(micros))
                    .forEach(r -> text.append(r).append("; "));
        }
        return text.toString();
    }

    /**
     * Looks for a resource that is free while a live claim waits for it: somebody has slept through a wake-up. To be called often while nothing is disturbed.
     *
     * @param boundNanos for how long that may be, in true time
     */
    void checkProgress(long micros, long boundNanos) {
        for (Map.Entry<String, Book> each : books.entrySet()) {
            Book book = each.getValue();
            boolean isFree = book.held.values().stream().allMatch(record -> record.isOverTimeAt(micros));
            boolean isWanted = book.waiting.values().stream()
                    .anyMatch(record -> !record.isOverTimeAt(micros)
                            && !record.session.owner.process().isDead());
            if (!isFree || !isWanted) {
                book.freeSince = Long.MAX_VALUE;
            } else if (book.freeSince == Long.MAX_VALUE) {
                book.freeSince = world.now();
            } else if (world.now() - book.freeSince > boundNanos) {
                world.fail(
                        "I6 no lost wake-up",
                        each.getKey() + " is free and wanted for " + (world.now() - book.freeSince) / 1_000_000
                                + " ms: " + book.waiting.values());
            }
        }
    }

    long lastMicros() {
        return lastMicros;
    }

    private static boolean claims(Command command, ClaimRef ref) {
        if (command instanceof Command.Acquire acquire) {
            return acquire.claim().equals(ref);
        }
        return command instanceof Command.Yield yield && yield.next().claim().equals(ref);
    }

    private ClaimRecord.Session session(SessionId id) {
        ClaimRecord.Session known = sessions.get(id);
        if (known == null) {
            throw new IllegalStateException("The store knows a session that it never gave: " + id);
        }
        return known;
    }

    private Book book(String resource) {
        return books.computeIfAbsent(resource, name -> new Book());
    }

    private static long micros(Duration duration) {
        return (duration.toNanos() + 999) / 1_000;
    }
}
