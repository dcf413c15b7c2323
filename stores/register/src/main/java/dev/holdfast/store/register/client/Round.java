package dev.holdfast.store.register.client;

import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.WriteResult;
import dev.holdfast.store.register.machine.Answer;
import dev.holdfast.store.register.machine.Facts;
import dev.holdfast.store.register.machine.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One round of a lane: carries out some calls in one atomic step on the record of the resource.
 *
 * <ol>
 *   <li>The step is computed on the record as this client knows it.
 *   <li>What it needs to know beside is asked, and it is computed again: leases that are to begin, sessions of which
 *       nothing is known, and whether those live on whose life the answers depend and that nobody watches.
 *   <li>If it changes the record it is one conditional write. On a conflict it is computed again on what is there,
 *       after a random pause that grows with the conflicts. Where other clients arrive at the same time, or were faster
 *       twice, claims that may wait are {@linkplain Announcements announced} first.
 *   <li>If it changes nothing, its answers are as good as a read that was made after the calls had come.
 *   <li>Where others write at the same time again and again, claims are announced without a try. The clients that write
 *       next are {@linkplain ArrivalNotices notified} and take them in; where many hold or wait, these read the
 *       arrivals before they write instead. So neither makes the other fail.
 * </ol>
 *
 * <p>A call fails only if a trip does. Unless that was the write, it had no effect.
 */
final class Round {

    /** After so long the calls fail, and had no effect, if others were always quicker. */
    private static final long MOST_NANOS = 60_000_000_000L;

    /** Who holds and goes on tries again at once so often. */
    private static final int MOST_CONFLICTS_AT_ONCE = 3;

    /** The longest pause after a conflict is a write's time doubled so many times. */
    private static final int MOST_DOUBLINGS = 8;

    /** The same for a round whose claims are announced: other clients are about to take them in. */
    private static final int MOST_ANNOUNCED_DOUBLINGS = 3;

    /** A claim is announced after this many lost writes: its client is too slow, or too far away, to compete. */
    private static final int MOST_LOST_WRITES = 2;

    /** Who has announced its claims looks again after a write's time doubled so many times, at the latest. */
    private static final int ANNOUNCED_DOUBLINGS = 1;

    /** From so many parties on, claims and releases meet so often that claims are better announced. */
    private static final int MANY_PARTIES = 4;

    private final Context context;
    private final RegisterAdapter adapter;
    private final Lane lane;
    private final List<Call> calls;
    private final Facts facts;
    private final FactQueries queries;
    private final LivenessChecks liveness;
    private final Announcements announcements;
    private final IntakeWait intake;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final long startedAt;

    /** Whether claims are to be queued, and nothing else is to be done that writes. */
    private final boolean isQueuing;

    /** Whether there is something to be done that is likely to write and can't be left to others. */
    private final boolean isWriting;

    /** Whether others were likely to write at the same time when it began. */
    private final boolean wasContended;

    /** Whether the record was read, or failed to be written, in this round. */
    private boolean isFresh;

    /** Whether the write was made: what fails then was not without effect. */
    private boolean hasWritten;

    private int conflicts;

    /** How many writes failed because the record had changed, including those on what was remembered or guessed. */
    private int lostWrites;

    /** The version of the record when its claims were announced. */
    private @Nullable RecordVersion announcedAt;

    /** Whether its claims were announced, as far as they were new. */
    private boolean hasAnnounced;

    Round(Context context, Lane lane, List<Call> calls) {
        this.context = context;
        this.adapter = context.adapter();
        this.lane = lane;
        this.calls = calls;
        this.facts = new Facts(context.sessions());
        this.queries = new FactQueries(context, facts);
        this.liveness = new LivenessChecks(context, lane, calls, queries);
        this.announcements = new Announcements(context, lane, calls);
        this.intake = new IntakeWait(context, lane);
        this.startedAt = context.now();
        boolean isUrgent = false;
        boolean hasClaim = false;
        for (Call call : calls) {
            isUrgent |= call.isUrgent();
            hasClaim |= call.queuing().isPresent();
        }
        this.isWriting = isUrgent;
        this.isQueuing = hasClaim && !isUrgent;
        this.wasContended = lane.isContended();
    }

    /** Makes the round; the future ends when it is over, and never exceptionally. */
    CompletableFuture<Void> run() {
        attempt();
        return done;
    }

    private void attempt() {
        try {
            RegisterRecord record = record();
            if (record == null) {
                read();
            } else {
                attempt(record);
            }
        } catch (RuntimeException e) {
            fail(Failures.withoutEffect(e));
        }
    }

    private @Nullable RegisterRecord record() {
        boolean isNews = lane.takeNews();
        if (lane.isCrowded() && isWriting && !isFresh) {
            announcements.takeAll();
            return null;
        }
        if (!isNews && lane.known == null && !isFresh && calls.get(0).mayGuess()) {
            lane.known = adapter.guess(lane.resource()).orElse(null);
        }
        return lane.known;
    }

    private void read() {
        intake.endGlance();
        then(readRecord(), this::attemptOn);
    }

    private void attemptOn(RegisterRecord fresh) {
        lane.known = fresh;
        isFresh = true;
        attempt();
    }

    /** Leaves it to the holders to take in what was announced, for some time. */
    private void leaveItToHolders() {
        if (intake.isPatienceOver()) {
            if (hasChangedSinceAnnounced()) {
                // Others write and don't take it in: its own write would lose to theirs the next time too.
                lane.competed(true);
            } else {
                intake.wasInVain();
            }
            read();
        } else {
            intake.pause(() -> goOn(this::glance));
        }
    }

    private void glance() {
        if (lane.isUrged() && !lane.hasNews()) {
            // The next round gives up or releases something, and does not wait for others to write.
            read();
        } else {
            boolean hasPoll = calls.stream().anyMatch(Call::isPoll);
            then(intake.glance(!hasPoll), this::attemptOn);
        }
    }

    private CompletionStage<RegisterRecord> readRecord() {
        return announcements.matter() ? announcements.read() : adapter.read(lane.resource());
    }

    private void attempt(RegisterRecord record) {
        facts.time(adapter.time());
        Step step = new Step(lane.resource(), record, facts, adapter.traits());
        boolean takesIn = !intake.isGlance() && (isWriting || isQueuing);
        facts.othersAnnounced(!takesIn && announcements.areOthersNoticed(step));
        if (takesIn) {
            // After lost writes, what it was notified of is out of date, and would only make it lose again.
            announcements.takeInto(step, !hasLost());
        }
        List<Answer> answers = new ArrayList<>(calls.size());
        for (Call call : calls) {
            answers.add(call.part().apply(step));
        }
        if (!facts.isComplete()) {
            then(queries.complete(), all -> attempt());
            return;
        }
        boolean isChange = step.isChange();
        boolean hasHolder = (wasContended || hasLost()) && step.partiesBefore() > 0;
        boolean mayAnnounce = isQueuing && (intake.isGlance() || (hasHolder && !hasAnnounced));
        boolean isNew = mayAnnounce && announcements.canBeMade(step);
        if (intake.isGlance() && isNew) {
            // Not all of it is there yet. Without a holder, the clients of the arrivals take them in.
            if (hasHolder) {
                leaveItToHolders();
            } else {
                read();
            }
            return;
        }
        if (intake.isGlance()) {
            intake.takenIn();
            intake.endGlance();
        }
        if (isChange && announcements.leaveItToOthers()) {
            pause(ANNOUNCED_DOUBLINGS, this::read);
            return;
        }
        if (isNew && hasHolder && !hasAnnounced) {
            announce(step, presentStep(), this::leaveItToHolders);
            return;
        }
        Set<SessionId> unverified = unverified(step, isChange);
        if (!unverified.isEmpty() || (!isChange && !isFresh)) {
            verify(unverified, isChange || isFresh);
        } else if (isChange) {
            write(record, step, answers);
        } else {
            answer(record, step, answers);
        }
    }

    // Who must live

    private Set<SessionId> unverified(Step step, boolean isChange) {
        return isChange || isAnnounced() ? liveness.beforeWrite(step) : liveness.beforeAnswer(step);
    }

    /** Whether it is all about claims that were announced. */
    private boolean isAnnounced() {
        return isQueuing && announcements.areMade() && calls.stream().noneMatch(Call::isPoll);
    }

    private void verify(Set<SessionId> ids, boolean isRecordKnown) {
        CompletionStage<Void> sessions = queries.verify(ids);
        if (isRecordKnown) {
            then(sessions, all -> attempt());
            return;
        }
        // Both at once: what the second finds out of date, the next attempt asks again.
        CompletionStage<RegisterRecord> record = readRecord();
        then(sessions.thenCombine(record, (all, present) -> present), this::attemptOn);
    }

    // The write

    private void write(RegisterRecord record, Step step, List<Answer> answers) {
        ConditionalWrite write = step.write(NoticeDelivery.mail(context, facts, step));
        long sentAt = context.now();
        CompletionStage<WriteResult> sent = adapter.write(write);
        CompletionStage<?> left = queries.remaining();
        var unused = sent.whenComplete((result, failure) -> {
            if (failure != null) {
                lane.known = null;
                fail(Failures.of(failure));
                return;
            }
            lane.wrote(context.now() - sentAt);
            try {
                written(record, step, answers, write, result, left);
            } catch (RuntimeException e) {
                failed(e);
            }
        });
    }

    private void written(
            RegisterRecord record,
            Step step,
            List<Answer> answers,
            ConditionalWrite write,
            WriteResult result,
            CompletionStage<?> left) {
        if (result instanceof WriteResult.Written now) {
            RegisterRecord present = new RegisterRecord(write.state(), now.version(), record.floor());
            lane.known = present;
            hasWritten = true;
            lane.notices().drop(write.arrivals());
            // What is left of sessions is for hints alone: whether or not it could be told.
            var unused = left.whenComplete((all, failure) -> goOn(() -> answer(present, step, answers)));
        } else if (result instanceof WriteResult.Refused refused) {
            refused(record, step, write, refused);
        }
    }

    private void refused(RegisterRecord record, Step step, ConditionalWrite write, WriteResult.Refused refused) {
        refused.gone().forEach(id -> {
            facts.gone(id);
            context.gone(id);
        });
        refused.raised().forEach((id, epoch) -> {
            facts.epoch(id, epoch);
            context.sessions().epoch(id, epoch);
        });
        boolean isUnchanged = refused.present().version().equals(record.version());
        if (isUnchanged && !refused.isConflict()) {
            attempt();
            return;
        }
        if (isUnchanged && !write.arrivals().isEmpty() && !announcements.matter()) {
            // One of the noticed claims has been taken in by another client. This write goes on without them, and
            // which of them still wait is read meanwhile, for the next one.
            announcements.leaveNoticed();
            attempt();
            return;
        }
        // What was remembered, or guessed, was out of date: that says nothing of others who are at it now.
        boolean isContended = isFresh;
        lane.known = refused.present();
        isFresh = true;
        lostWrites += isUnchanged ? 0 : 1;
        if (isContended) {
            conflicted(step);
        } else {
            attempt();
        }
    }

    private void conflicted(Step step) {
        if (context.now() - startedAt > MOST_NANOS) {
            fail(new StoreException(
                    StoreException.Reason.UNAVAILABLE,
                    StoreException.Effect.NONE,
                    "other clients have changed the record of lock '" + lane.resource() + "' each time, "
                            + (conflicts + 1) + " times, before this one could",
                    null));
            return;
        }
        conflicts++;
        if (isWriting && conflicts <= MOST_CONFLICTS_AT_ONCE) {
            // Others wait for this one to go on.
            if (lane.isCrowded()) {
                announcements.takeAll();
                read();
            } else {
                attempt();
            }
        } else if (!hasAnnounced && announcements.canBeMade(step) && (hasLost() || hasGrown(step))) {
            // Of clients that arrive together, the first takes all claims in. Otherwise the next writer does.
            announce(step, presentStep(), hasGrown(step) ? this::read : this::leaveItToHolders);
        } else if (intake.isPatienceOver() && announcements.areMade()) {
            // The clients that were notified have not taken them in, and those that write next may be others.
            then(announcements.takeBack(), all -> {
                hasAnnounced = false;
                read();
            });
        } else {
            // By then it will have changed again, and a read costs less than a write that fails.
            int most = announcements.areMade() ? MOST_ANNOUNCED_DOUBLINGS : MOST_DOUBLINGS;
            pause(Math.min(conflicts + 1, most), () -> verify(unverified(step, true), false));
        }
    }

    private boolean hasChangedSinceAnnounced() {
        return announcedAt != null && lane.known != null && !announcedAt.equals(lane.known.version());
    }

    /** Whether its claims have lost to other clients too often to go on competing. */
    private boolean hasLost() {
        return lostWrites >= MOST_LOST_WRITES;
    }

    /** Whether the conflict was with somebody who has come, rather than with one who leaves or goes on. */
    private boolean hasGrown(Step step) {
        return presentStep().partiesBefore() > step.partiesBefore();
    }

    /** A step that does nothing, on the record as it is known now. */
    private Step presentStep() {
        return new Step(lane.resource(), Objects.requireNonNull(lane.known), facts, adapter.traits());
    }

    /** Announces what a step would have queued, and notifies the clients that write next. */
    private void announce(Step step, Step present, Runnable next) {
        hasAnnounced = true;
        announcedAt = lane.known == null ? null : lane.known.version();
        lane.learnWriters(step.view());
        lane.learnWriters(present.view());
        List<SessionId> writers =
                lane.toNotify().stream().filter(id -> !facts.isGone(id)).toList();
        then(announcements.make(step, facts, writers), all -> {
            intake.begin();
            next.run();
        });
    }

    /** Goes on after a random time: up to that of a write, doubled so often. */
    private void pause(int doublings, Runnable next) {
        long pause = context.upTo(lane.writeNanos() << doublings);
        if (pause == 0) {
            next.run();
        } else {
            context.environment().schedule(pause, () -> goOn(next));
        }
    }

    /** Goes on where nobody else would notice a failure. */
    private void goOn(Runnable next) {
        try {
            next.run();
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    // The answers

    private void answer(RegisterRecord present, Step step, List<Answer> answers) {
        if (step.isChange()) {
            finish(present, step, answers);
        } else {
            then(queries.remaining(), all -> finish(present, step, answers));
        }
    }

    private void finish(RegisterRecord present, Step step, List<Answer> answers) {
        long base = step.base(present);
        lane.learn(step.view(), step.parties(LivenessChecks.MOST_DECISIVE));
        boolean metOthers = conflicts > 0 || announcements.areMade() || announcements.sawOthers();
        if (isWriting || isQueuing) {
            lane.met(metOthers && step.partiesBefore() >= MANY_PARTIES);
        }
        if (isQueuing && !wasContended) {
            lane.competed(hasLost());
        }
        List<Reply> replies = new ArrayList<>(answers.size());
        for (Answer answer : answers) {
            replies.add(answer.on(base));
        }
        for (int i = 0; i < calls.size(); i++) {
            calls.get(i).reply().complete(replies.get(i));
        }
        if (!step.isChange() && !isAnnounced()) {
            lane.checked();
        }
        NoticeDelivery.signal(context, step, base);
        if (step.isUnfinished()) {
            lane.look();
        }
        endLeases(step.endedLeases());
        // Last, so that what the next round answers comes after this.
        done.complete(null);
    }

    private void endLeases(Set<SessionId> leases) {
        leases.forEach(lease -> {
            var unused = adapter.closeSession(lease);
        });
    }

    private void fail(StoreException cause) {
        // What was announced may still be taken in.
        StoreException failure = announcements.wereMade() ? Failures.withUnknownEffect(cause) : cause;
        announcements.retract();
        if (failure.effect() == StoreException.Effect.NONE) {
            endLeases(facts.openedLeases());
        }
        calls.forEach(call -> call.reply().completeExceptionally(failure));
        done.complete(null);
    }

    /** Goes on when a trip has ended that changes nothing by itself. */
    private <T> void then(CompletionStage<T> trip, Consumer<T> next) {
        var unused = trip.whenComplete((result, failure) -> {
            if (failure != null) {
                failed(failure);
                return;
            }
            try {
                next.accept(result);
            } catch (RuntimeException e) {
                failed(e);
            }
        });
    }

    private void failed(Throwable failure) {
        fail(hasWritten ? Failures.of(failure) : Failures.withoutEffect(failure));
    }
}
