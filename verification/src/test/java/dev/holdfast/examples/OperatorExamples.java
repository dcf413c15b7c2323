package dev.holdfast.examples;

import dev.holdfast.Holdfast;
import dev.holdfast.admin.ClientState;
import dev.holdfast.admin.HealthReport;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.LockPage;
import dev.holdfast.admin.LockQuery;
import dev.holdfast.admin.RecordedRun;
import java.time.Duration;
import java.util.Optional;

/** What the page on operations shows, compiled. */
@SuppressWarnings("unused")
abstract class OperatorExamples {

    abstract void print(String line);

    void look(Holdfast holdfast) {
        holdfast.inspect("nightly-report").ifPresent(info -> {
            for (LockInfo.Holder holder : info.holders()) {
                print(holder.label() + " with token " + holder.token() + ", lease " + holder.leaseLeft());
                print(holder.message()); // what it says that it is for
            }
            for (LockInfo.Waiter waiter : info.waiters()) {
                print(waiter.label() + " waits for " + waiter.waited());
            }
        });

        // All names with this prefix, page by page.
        Optional<LockQuery> next = Optional.of(LockQuery.startingWith("import/"));
        while (next.isPresent()) {
            LockPage page = holdfast.inspect(next.get());
            page.locks().forEach(info -> print(info.name() + (info.isHeld() ? " is held" : " is free")));
            next = page.next();
        }
    }

    void runs(Holdfast holdfast) {
        for (RecordedRun run : holdfast.runs("nightly-report")) { // newest first
            print(run.outcome() + " at " + run.label() + ", token " + run.token());
            print(run.startedAt() + " to " + run.endedAt());
            print(run.failure()); // the class of the exception
        }
    }

    void stepIn(Holdfast holdfast, LockInfo.Holder holder) {
        // Takes the lock from the holder that was inspected, not from a later one.
        boolean isReleased = holdfast.forceRelease("nightly-report", holder.token());

        // One round trip, answered within the bound. The state needs none.
        HealthReport health = holdfast.checkHealth(Duration.ofSeconds(1));
        ClientState state = holdfast.state();
    }
}
