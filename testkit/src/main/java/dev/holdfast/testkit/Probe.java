package dev.holdfast.testkit;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Reply.ClaimReply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.List;

/**
 * One claim: how it is asked for, and what the store makes of it. The methods that begin with {@code is} fail the test
 * if it is not so.
 */
record Probe(
        TestClient client,
        ClaimRef ref,
        long epoch,
        Sending sending,
        ResourceSpec spec,
        int weight,
        Lease lease,
        Waiting waiting,
        int tokens) {

    // How it is asked for: the same claim, sent otherwise.

    Probe tried() {
        return new Probe(client, ref, epoch, sending, spec, weight, lease, Waiting.TRY, tokens);
    }

    Probe under(long otherEpoch) {
        return new Probe(client, ref, otherEpoch, sending, spec, weight, lease, waiting, tokens);
    }

    Probe repeated() {
        return new Probe(client, ref, epoch, Sending.REPEAT, spec, weight, lease, waiting, tokens);
    }

    Probe with(Lease otherLease) {
        return new Probe(client, ref, epoch, sending, spec, weight, otherLease, waiting, tokens);
    }

    Probe with(Order order) {
        ResourceSpec other = new ResourceSpec(spec.kind(), spec.capacity(), order);
        return new Probe(client, ref, epoch, sending, other, weight, lease, waiting, tokens);
    }

    Probe wanting(int howManyTokens) {
        return new Probe(client, ref, epoch, sending, spec, weight, lease, waiting, howManyTokens);
    }

    Probe numbered(long claim) {
        ClaimRef other = new ClaimRef(ref.resource(), ref.session(), claim);
        return new Probe(client, other, epoch, sending, spec, weight, lease, waiting, tokens);
    }

    Acquire command() {
        return new Acquire(ref, epoch, sending, spec, weight, lease, waiting, tokens);
    }

    // Asking.

    @CanIgnoreReturnValue
    Probe expectGranted() {
        Reply.Granted unused = granted();
        return this;
    }

    @CanIgnoreReturnValue
    Probe expectQueued() {
        Reply.Queued unused = queued();
        return this;
    }

    Reply.Granted granted() {
        return client.send(command(), Reply.Granted.class);
    }

    Reply.Queued queued() {
        return client.send(command(), Reply.Queued.class);
    }

    void expectRefused(Refusal reason) {
        Reply.Refused refused = client.send(command(), Reply.Refused.class);
        if (refused.reason() != reason) {
            throw new AssertionError(
                    command() + "\n  was to be refused as " + reason + ", but was answered\n  " + refused);
        }
    }

    void expectStale() {
        client.send(command(), Reply.Stale.class);
    }

    void expectEndedSession() {
        client.send(command(), Reply.SessionEnded.class);
    }

    // Its state, by a poll.

    ClaimReply state() {
        return stateThrough(client.store);
    }

    ClaimReply stateThrough(LockStore store) {
        Reply.Polled polled = ConformanceFixture.send(store, new Command.Poll(List.of(ref)), Reply.Polled.class);
        if (polled.states().size() != 1) {
            throw new AssertionError("One claim was polled, but the answer is " + polled);
        }
        return polled.states().get(0);
    }

    boolean holds() {
        return state() instanceof Reply.Granted;
    }

    boolean isOver() {
        ClaimReply state = state();
        return state instanceof Reply.Absent || state instanceof Reply.SessionEnded || state instanceof Reply.Refused;
    }

    void expectHeld() {
        Reply.Granted unused = grant();
    }

    /** The grant, as a poll returns it. */
    Reply.Granted grant() {
        ClaimReply state = state();
        if (state instanceof Reply.Granted granted) {
            return granted;
        }
        throw new AssertionError("The claim " + ref + " was to hold, but a poll answers " + state);
    }

    void expectWaiting() {
        ClaimReply state = state();
        if (!(state instanceof Reply.Queued)) {
            throw new AssertionError("The claim " + ref + " was to wait, but a poll answers " + state);
        }
    }

    void expectGone() {
        ClaimReply state = state();
        if (state instanceof Reply.Granted || state instanceof Reply.Queued) {
            throw new AssertionError("The claim " + ref + " was to be gone, but a poll answers " + state);
        }
    }

    TokenBlock block() {
        return grant().tokens();
    }

    // What it can do.

    void release() {
        client.send(new Command.Release(ref), Reply.Released.class);
    }

    void withdraw() {
        client.send(new Command.Withdraw(ref, Sending.FIRST), Reply.Done.class);
    }

    void withdrawUnknown() {
        client.send(new Command.Withdraw(ref, Sending.REPEAT), Reply.Done.class);
    }

    Reply yieldFor(Probe next) {
        return ConformanceFixture.send(client.store, new Command.Yield(ref, next.command()));
    }

    Reply.Extended extend(long seq, Duration length) {
        return client.send(new Command.Extend(ref, seq, length), Reply.Extended.class);
    }
}
