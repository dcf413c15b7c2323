package dev.holdfast.engine.session;

import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Compares, once per ttl and after each fail-over of the store, what the store records under the session with what the
 * client knows. A grant that was settled before the audit began, that no command was sent about since, and that the
 * store does not have, was removed: it is lost. A claim that the store has and that the client neither has nor is
 * ending is an orphan. It is withdrawn; otherwise its own live session would renew it for ever. A claim released while
 * the answer was in flight looks like an orphan too, so a second audit must find it again. A claim whose next step got
 * lost in this client is also withdrawn: about it nothing was sent or answered for far longer than any pause or
 * time-out.
 */

/** Audits the session of a partition. Runs one at a time. */
public final class Auditor {
    private static final Logger log = LoggerFactory.getLogger(Auditor.class);

    /** The most claims in a page. A store may return fewer, if large answers would block its server. */
    private static final int PAGE = 10_000;

    /** More than the longest pause between retries. */
    private static final long PAUSES_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final Partition partition;
    private final ClientContext context;
    private final AtomicBoolean isRunning = new AtomicBoolean();

    /** Whether an audit is to begin before its regular time. */
    private final AtomicBoolean isUrgent = new AtomicBoolean();

    private volatile long lastRun;

    Auditor(Partition partition) {
        this.partition = partition;
        this.context = partition.context;
        this.lastRun = context.clock().now();
    }

    /** Begins an audit if the last one began a ttl ago. */
    void runIfDue(Session session) {
        long now = context.clock().now();
        if (now - lastRun >= session.ttlNanos && isRunning.compareAndSet(false, true)) {
            run(session, now, failure -> end());
        }
    }

    /**
     * Begins an audit now, or when the running one has ended, which may have been answered before. Retries it while the
     * store is unavailable.
     */
    void runNow() {
        isUrgent.set(true);
        runUrgent(0);
    }

    /** @param failures how often it has failed in a row */
    private void runUrgent(int failures) {
        if (!isUrgent.get() || !isRunning.compareAndSet(false, true)) {
            return;
        }
        isUrgent.set(false);
        Session session = partition.keeper.current();
        if (session == null || context.isClosing()) {
            // A new session has no claims yet.
            end();
            return;
        }
        run(session, context.clock().now(), failure -> {
            if (failure.reason() == Reason.UNAVAILABLE) {
                isUrgent.set(true);
                isRunning.set(false);
                Backoff.RESEND.retry(context.environment(), failures, () -> runUrgent(failures + 1));
            } else {
                end();
            }
        });
    }

    private void run(Session session, long now, Consumer<StoreException> failed) {
        lastRun = now;
        // Later claims have greater numbers, and are not audited.
        long newest = partition.newestClaim();
        ask(session, present -> compare(session, present, now, newest, failed), failed);
    }

    /** Ends the running audit, and begins one that was requested meanwhile. */
    private void end() {
        isRunning.set(false);
        runUrgent(0);
    }

    /** Reads all claims of the session, page by page, and passes them on. */
    private void ask(Session session, Consumer<Set<ClaimRef>> then, Consumer<StoreException> failed) {
        page(session, Optional.empty(), new HashSet<>(), then, failed);
    }

    private void page(
            Session session,
            Optional<String> cursor,
            Set<ClaimRef> present,
            Consumer<Set<ClaimRef>> then,
            Consumer<StoreException> failed) {
        Command command = new Command.Audit(session.id, cursor, PAGE);
        partition.wire.send(command, CallerMode.ASYNC, new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                if (!(reply instanceof Reply.Audited audited)) {
                    if (reply instanceof Reply.SessionEnded) {
                        partition.keeper.endedAtStore(session);
                    }
                    end();
                    return;
                }
                present.addAll(audited.granted());
                present.addAll(audited.waiting());
                if (audited.cursor().isPresent()) {
                    // Where the store answers at once, all pages would otherwise delay the next keep-alive.
                    context.environment().schedule(0, () -> page(session, audited.cursor(), present, then, failed));
                } else {
                    then.accept(present);
                }
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                failed.accept(failure);
                partition.troubled(failure);
            }
        });
    }

    private void compare(
            Session session, Set<ClaimRef> present, long startedAt, long newest, Consumer<StoreException> failed) {
        long quietBefore =
                startedAt - session.ttlNanos - context.options().storeTimeout().toNanos() - PAUSES_NANOS;
        SessionUser.Audit audit = new SessionUser.Audit(session, present, startedAt, quietBefore);
        partition.auditUsers(audit, () -> withdrawUnknown(audit, newest, failed));
    }

    /** Withdraws what is left after the users have removed their own claims. */
    private void withdrawUnknown(SessionUser.Audit audit, long newest, Consumer<StoreException> failed) {
        Session session = audit.session();
        Set<ClaimRef> orphans = new HashSet<>();
        for (ClaimRef ref : audit.present()) {
            if (ref.claim() > newest) {
                continue;
            }
            if (partition.retrier.isForgotten(ref, audit.quietBefore())) {
                log.error(
                        "resource={} claim={} was ending but has no pending command; it is withdrawn",
                        ref.resource(),
                        ref.claim());
                // Its newest command may not be answered yet.
                partition.keeper.afterRaise(session, session.epoch(), () -> withdraw(ref, session));
            } else if (!partition.isKnown(ref)) {
                orphans.add(ref);
            }
        }
        if (orphans.isEmpty()) {
            end();
        } else {
            ask(session, again -> withdrawOrphans(session, orphans, again), failed);
        }
    }

    private void withdrawOrphans(Session session, Set<ClaimRef> orphans, Set<ClaimRef> present) {
        for (ClaimRef ref : orphans) {
            if (present.contains(ref)) {
                log.warn(
                        "resource={} claim={} the store has a claim that this client does not know; it is withdrawn",
                        ref.resource(),
                        ref.claim());
                withdraw(ref, session);
            }
        }
        end();
    }

    private void withdraw(ClaimRef ref, Session session) {
        Command.Withdraw command = new Command.Withdraw(ref, Command.Sending.REPEAT);
        partition.retrier.announce(command);
        partition.retrier.settle(command, session, CallerMode.ASYNC, ReleaseRetrier.NOBODY);
    }
}
