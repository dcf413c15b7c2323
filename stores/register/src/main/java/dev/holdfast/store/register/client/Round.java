package dev.holdfast.store.register.client;

import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.WriteResult;
import dev.holdfast.store.register.machine.Answer;
import dev.holdfast.store.register.machine.Facts;
import dev.holdfast.store.register.machine.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One round of a lane: executes some calls in one atomic step on the record of the resource.
 *
 * <ol>
 *   <li>It computes the step on the record as this client knows it.
 *   <li>It queries the missing facts and computes the step again: leases that are to begin, unknown sessions, and
 *       whether the unwatched sessions live that the answers depend on.
 *   <li>A step that changes the record is one conditional write. After a conflict, the round pauses for a random time
 *       that grows with the conflicts, and computes the step on the present record. Where other clients arrive at the
 *       same time, or won twice, it first {@linkplain Announcements announces} the claims that may wait.
 *   <li>The answers of a step that changes nothing come from a read made after the calls.
 *   <li>Where others often write at the same time, a round announces its claims without a try. The clients that write
 *       next are {@linkplain ArrivalNotices notified} and add the claims to the record. Where many hold or wait, they
 *       read the arrivals before each write instead. So neither write makes the other fail.
 * </ol>
 *
 * <p>A call fails only if a request does. It had no effect unless that request was the write.
 */
final class Round {

    /** After an announcement, the longest pause before a read is the time of a write, doubled this many times. */
    private static final int ANNOUNCED_DOUBLINGS = 1;

    private final Context context;
    private final RegisterAdapter adapter;
    private final Lane lane;
    private final Contention contention;
    private final List<LaneCall> calls;
    private final Facts facts;
    private final FactQueries queries;
    private final LivenessChecks liveness;
    private final Announcements announcements;
    private final IntakeWait intake;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final Competition competition;
    private final BlockingCaller caller;

    /** Whether it makes claims that may wait, and nothing else that writes. */
    private final boolean isQueuing;

    /** Whether it has a call that is likely to write, and that other clients can't execute. */
    private final boolean isWriting;

    /** Whether other clients were likely to write at the same time when it began. */
    private final boolean wasContended;

    /** Whether this round has read the record, by a read or a failed write. */
    private boolean isFresh;

    /** Whether the write succeeded: a later failure is not without effect. */
    private boolean hasWritten;

    /** The guessed record, until the round finds out whether the guess was right. */
    private @Nullable RegisterRecord guess;

    /** Whether the record was peeked at because guesses are often wrong. */
    private boolean hasPeeked;

    /** Whether it has announced its new claims. */
    private boolean hasAnnounced;

    Round(Context context, Lane lane, List<LaneCall> calls) {
        this.context = context;
        this.adapter = context.adapter();
        this.lane = lane;
        this.contention = lane.contention();
        this.calls = calls;
        this.facts = new Facts(context.sessions());
        this.queries = new FactQueries(context, facts);
        this.liveness = new LivenessChecks(context, calls, queries, lane.checks());
        this.announcements = new Announcements(context, lane.resource(), contention, calls);
        this.intake = new IntakeWait(context, lane);
        this.competition = new Competition(context);
        this.caller = new BlockingCaller(adapter);
        this.isWriting = calls.stream().anyMatch(LaneCall::isUrgent);
        this.isQueuing =
                !isWriting && calls.stream().anyMatch(call -> call.queuing().isPresent());
        this.wasContended = contention.isLikely();
    }

    /**
     * Runs the round; the future completes when it has ended, never exceptionally.
     *
     * @param mayBlockFor how long this thread may block for writes, unless the round waits for something else first;
     *     zero if it must not block
     */
    CompletableFuture<Void> run(Duration mayBlockFor) {
        caller.begin(context.now(), mayBlockFor);
        attempt();
        caller.end();
        return done;
    }

    private void attempt() {
        try {
            boolean isNews = lane.takeNews();
            if (contention.isCrowded() && isWriting && !isFresh) {
                announcements.addAll();
                read();
            } else if (lane.known != null) {
                attempt(lane.known);
            } else if (!isNews && !isFresh && calls.get(0).mayGuess()) {
                guess();
            } else {
                read();
            }
        } catch (RuntimeException e) {
            fail(RegisterFailures.withoutEffect(e));
        }
    }

    private void guess() {
        RegisterRecord guessed = adapter.guess(lane.resource()).orElse(null);
        if (guessed == null) {
            read();
            return;
        }
        guess = guessed;
        Optional<CompletionStage<RegisterRecord>> peek =
                context.guesses().isGood() ? Optional.empty() : adapter.peek(lane.resource());
        hasPeeked = peek.isPresent();
        if (hasPeeked) {
            then(peek.get(), present -> {
                // Without the peek, a wrong guess would have been a lost write.
                competition.wrote(!present.version().equals(guessed.version()));
                noteGuess(present);
                lane.known = present;
                attempt(present);
            });
        } else {
            lane.known = guessed;
            attempt(guessed);
        }
    }

    /** Notes whether the guess of this round was right, if it made one. */
    private void noteGuess(RegisterRecord present) {
        context.guesses().add(guess, present);
        guess = null;
    }

    private void read() {
        intake.beginReadingArrivals();
        then(readRecord(), this::attemptOn);
    }

    private void attemptOn(RegisterRecord fresh) {
        noteGuess(fresh);
        lane.known = fresh;
        isFresh = true;
        attempt();
    }

    /** Waits for some time until a holder has added the announced claims. */
    private void awaitIntake() {
        if (intake.isExhausted()) {
            if (intake.hasRecordChanged()) {
                // Others write without adding the claims: a write of its own would lose to theirs again.
                contention.competed(true);
            } else {
                intake.failed();
            }
            read();
        } else {
            intake.pause(() -> resume(this::readRecordOnly));
        }
    }

    private void readRecordOnly() {
        if (lane.isUrged() && !lane.hasNews()) {
            // The next round withdraws or releases something, and must not wait for the writes of others.
            read();
        } else {
            boolean hasPoll = calls.stream().anyMatch(LaneCall::isPoll);
            then(intake.read(hasPoll ? IntakeWait.Freshness.PRESENT : IntakeWait.Freshness.MAILED), this::attemptOn);
        }
    }

    private CompletionStage<RegisterRecord> readRecord() {
        return announcements.matter() ? announcements.read() : adapter.read(lane.resource());
    }

    private void attempt(RegisterRecord record) {
        facts.time(adapter.time());
        facts.wallMillis(context.environment().wallMillis());
        Step step = new Step(lane.resource(), record, facts, adapter.traits());
        boolean addsAnnounced = !intake.isReadingRecordOnly() && (isWriting || isQueuing);
        facts.othersAnnounced(!addsAnnounced && announcements.areOthersNoticed(step));
        if (addsAnnounced) {
            // After lost writes the noticed claims are outdated, and would make the write fail again.
            announcements.addTo(step, competition.hasLost() ? Announcements.Noticed.LEFT : Announcements.Noticed.ADDED);
        }
        List<Answer> answers = new ArrayList<>(calls.size());
        for (LaneCall call : calls) {
            answers.add(call.part().apply(step));
        }
        if (!facts.isComplete()) {
            then(queries.complete(), all -> attempt());
            return;
        }
        boolean isChange = step.isChange();
        boolean hasHolder = ((wasContended || competition.hasLost()) && step.partiesBefore() > 0) || isOutpaced();
        boolean mayAnnounce = isQueuing && (intake.isReadingRecordOnly() || (hasHolder && !hasAnnounced));
        boolean isNew = mayAnnounce && announcements.canBeMade(step);
        if (intake.isReadingRecordOnly() && isNew) {
            // A claim is not in the record yet. Without a holder, the clients of the arrivals add them.
            if (hasHolder) {
                awaitIntake();
            } else {
                read();
            }
            return;
        }
        if (intake.isReadingRecordOnly()) {
            intake.succeeded();
            intake.beginReadingArrivals();
        }
        if (isChange && announcements.areLeftToOthers()) {
            pause(ANNOUNCED_DOUBLINGS, this::read);
            return;
        }
        if (isNew && hasHolder && !hasAnnounced) {
            announce(step, presentStep(), this::awaitIntake);
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

    private Set<SessionId> unverified(Step step, boolean isChange) {
        return isChange || isAnnounced() ? liveness.beforeWrite(step) : liveness.beforeAnswer(step);
    }

    /** Whether it has announced claims and nothing else. */
    private boolean isAnnounced() {
        return isQueuing && announcements.areMade() && calls.stream().noneMatch(LaneCall::isPoll);
    }

    private void verify(Set<SessionId> ids, boolean isRecordKnown) {
        CompletionStage<Void> sessions = queries.verify(ids);
        if (isRecordKnown) {
            then(sessions, all -> attempt());
            return;
        }
        // In parallel: if the record has changed, the next attempt checks the sessions again.
        CompletionStage<RegisterRecord> record = readRecord();
        then(sessions.thenCombine(record, (all, present) -> present), this::attemptOn);
    }

    // The write

    private void write(RegisterRecord record, Step step, List<Answer> answers) {
        ConditionalWrite write = step.write(NoticeDelivery.mail(context, facts, step));
        long sentAt = context.now();
        CompletionStage<WriteResult> sent = caller.write(write, sentAt);
        CompletionStage<?> left = queries.remaining();
        var unused = sent.whenComplete((result, failure) -> {
            if (failure != null) {
                lane.known = null;
                fail(RegisterFailures.of(failure));
                return;
            }
            contention.wrote(context.now() - sentAt);
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
            noteGuess(record);
            hasWritten = true;
            contention.notices().drop(write.arrivals());
            // The remaining times are only hints, so a failure to read them is ignored.
            var unused = left.whenComplete((all, failure) -> resume(() -> answer(present, step, answers)));
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
        noteGuess(refused.present());
        if (isUnchanged && !refused.isConflict()) {
            attempt();
            return;
        }
        if (isUnchanged && !write.arrivals().isEmpty() && !announcements.matter()) {
            // Another client has added one of the noticed claims. The write is repeated without them, and a read in
            // parallel finds those that still wait, for the next write.
            announcements.leaveNoticed();
            attempt();
            return;
        }
        // An outdated memory or guess is no sign that others write at present.
        boolean isContended = isFresh || hasPeeked;
        lane.known = refused.present();
        isFresh = true;
        competition.wrote(!isUnchanged);
        if (isContended) {
            conflicted(step);
        } else {
            attempt();
        }
    }

    private void conflicted(Step step) {
        competition.conflicted(lane.resource());
        Step present = presentStep();
        contention.learnWriters(step.view());
        contention.learnWriters(present.view());
        // Whether the conflict was with a new party, not with one that released or continued.
        boolean hasGrown = present.partiesBefore() > step.partiesBefore();
        if (isQueuing && competition.allowsRetry() && announcements.areAdded(present)) {
            // Another client has added all claims: a read returns their answers, and need not wait.
            read();
        } else if (isWriting && competition.allowsRetry()) {
            // Others wait for this write.
            if (contention.isCrowded()) {
                announcements.addAll();
                read();
            } else {
                attempt();
            }
        } else if (!hasAnnounced && announcements.canBeMade(step) && (isOutpaced() || hasGrown)) {
            // Of clients that arrive together, the first adds all claims. Otherwise the next writer does.
            announce(step, present, hasGrown ? this::read : this::awaitIntake);
        } else if (intake.isExhausted() && announcements.areMade()) {
            // The notified clients have not added the claims, and the next writers may be different ones.
            then(announcements.takeBack(), all -> {
                hasAnnounced = false;
                read();
            });
        } else {
            // The record changes again during the pause, and a read costs less than a failed write.
            pause(competition.doublings(announcements.areMade()), () -> verify(unverified(step, true), false));
        }
    }

    /**
     * Whether it has lost to clients that can be notified. Between two turns of theirs the record has no holder, but
     * they write again before this client can. An announcement that notifies no one would only delay it.
     */
    private boolean isOutpaced() {
        return competition.hasLost()
                && (contention.isCrowded() || !contention.toNotify().isEmpty());
    }

    /** An empty step on the record as this client knows it. */
    private Step presentStep() {
        return new Step(lane.resource(), Objects.requireNonNull(lane.known), facts, adapter.traits());
    }

    /** Announces the claims that a step would have queued, and notifies the clients that write next. */
    private void announce(Step step, Step present, Runnable next) {
        hasAnnounced = true;
        contention.learnWriters(present.view());
        then(announcements.make(step, facts), all -> {
            intake.begin();
            next.run();
        });
    }

    /** Continues after a random time, up to that of a write doubled some times. */
    private void pause(int doublings, Runnable next) {
        long pause = context.upTo(contention.writeNanos() << doublings);
        if (pause == 0) {
            next.run();
        } else {
            context.environment().schedule(pause, () -> resume(next));
        }
    }

    /** Continues on a thread where a failure would otherwise be lost. */
    private void resume(Runnable next) {
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
        boolean metOthers = competition.conflicts() > 0 || announcements.areMade() || announcements.sawOthers();
        if (isWriting || isQueuing) {
            contention.met(metOthers, step.partiesBefore());
        }
        if (isQueuing && !wasContended) {
            contention.competed(competition.hasLost());
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
            lane.maintain();
        }
        queries.endLeases(step.endedLeases());
        // Last, so that the answers of the next round follow these.
        done.complete(null);
    }

    private void fail(StoreException cause) {
        // Another client may still add the announced claims.
        StoreException failure = announcements.wereMade() ? RegisterFailures.withUnknownEffect(cause) : cause;
        announcements.retract();
        if (failure.effect() == StoreException.Effect.NONE) {
            queries.endLeases(facts.openedLeases());
        }
        calls.forEach(call -> call.reply().completeExceptionally(failure));
        done.complete(null);
    }

    /** Continues after a request that changes nothing by itself. */
    private <T> void then(CompletionStage<T> request, Consumer<T> next) {
        var unused = request.whenComplete((result, failure) -> {
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
        fail(hasWritten ? RegisterFailures.of(failure) : RegisterFailures.withoutEffect(failure));
    }
}
