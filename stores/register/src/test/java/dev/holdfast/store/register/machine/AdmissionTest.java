package dev.holdfast.store.register.machine;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("The step that makes room admits the waiters that then fit, and notifies them:")
class AdmissionTest extends StepFixture {

    private static final ResourceSpec SEMAPHORE = semaphore(2);
    private static final ResourceSpec LATCH = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);

    private static final ClaimRef HOLDER = ref("holder", 1);
    private static final ClaimRef WAITER = ref("waiter", 1);
    private static final ClaimRef ANOTHER = ref("another", 1);

    /** The step of the last command. */
    private Step step = step();

    @CanIgnoreReturnValue
    private Reply execute(Command.OnResource command) {
        step = step();
        Answer answer = step.execute(command);
        write(step);
        return answer.on(step.base(record));
    }

    private void assertAdmitted(ClaimRef claim) {
        assertThat(step.view().holders()).contains(claim);
        assertThat(step.notices())
                .filteredOn(notice -> notice.kind() == Notice.Kind.GRANTED)
                .extracting(Notice::claim)
                .containsExactly(claim);
    }

    @Test
    @DisplayName("a release")
    void release() {
        execute(claim(HOLDER, SEMAPHORE, 2));
        execute(claim(WAITER, SEMAPHORE, 2));
        execute(new Command.Release(HOLDER));
        assertAdmitted(WAITER);
    }

    @Test
    @DisplayName("a forced release")
    void forcedRelease() {
        long token =
                ((Reply.Granted) execute(claim(HOLDER, SEMAPHORE, 2))).tokens().first();
        execute(claim(WAITER, SEMAPHORE, 2));
        execute(new Command.ForceRelease(NAME, token));
        assertAdmitted(WAITER);
    }

    @Test
    @DisplayName("the release of some permits")
    void shrink() {
        execute(claim(HOLDER, SEMAPHORE, 2));
        execute(claim(WAITER, SEMAPHORE, 1));
        assertThat(execute(new Command.ShrinkTo(HOLDER, 1))).isEqualTo(new Reply.Done());
        assertAdmitted(WAITER);
        assertThat(step.view().holders()).contains(HOLDER);
    }

    @Test
    @DisplayName("the withdrawal of the head of the queue")
    void withdrawal() {
        execute(claim(HOLDER, SEMAPHORE, 1));
        execute(claim(ANOTHER, SEMAPHORE, 2));
        execute(claim(WAITER, SEMAPHORE, 1));
        assertThat(step.view().waiting()).containsExactly(ANOTHER, WAITER);
        execute(new Command.Withdraw(ANOTHER, Sending.FIRST));
        assertAdmitted(WAITER);
    }

    @ParameterizedTest
    @EnumSource(Order.class)
    @DisplayName("a yield, even where newcomers may barge: its own next claim waits")
    void yielded(Order order) {
        ResourceSpec spec = new ResourceSpec(Kind.MUTEX, 1, order);
        ClaimRef next = new ClaimRef(NAME, HOLDER.session(), 2);
        execute(claim(HOLDER, spec, 1));
        execute(claim(WAITER, spec, 1));
        assertThat(execute(new Command.Yield(HOLDER, claim(next, spec, 1)))).isInstanceOf(Reply.Queued.class);
        assertAdmitted(WAITER);
        assertThat(step.view().waiting()).containsExactly(next);
    }

    @Test
    @DisplayName("the last count of a latch, whose passes all fit")
    void lastCount() {
        execute(new Command.SetCount(NAME, HOLDER.session(), 0, 1, 2));
        execute(claim(WAITER, LATCH, 0));
        execute(claim(ANOTHER, LATCH, 0));
        execute(new Command.CountDown(NAME, 1, "a", 1));
        assertThat(step.view().holders()).isEmpty();
        assertThat(execute(new Command.CountDown(NAME, 1, "b", 1))).isEqualTo(new Reply.Count(1, 0));
        assertThat(step.notices()).extracting(Notice::claim).containsExactly(WAITER, ANOTHER);
    }

    @Test
    @DisplayName("but it admits no claim of an ended session, nor under an epoch that was raised")
    void sessionsThatMayNotClaim() {
        epoch = 1;
        Acquire claim = claim(WAITER, SEMAPHORE, 1);
        assertThat(execute(claim)).isInstanceOf(Reply.Stale.class);
        assertThat(execute(new Command.Resize(NAME, HOLDER.session(), 0, 1))).isInstanceOf(Reply.Stale.class);
        assertThat(execute(new Command.SetCount(NAME, HOLDER.session(), 0, 1, 1)))
                .isInstanceOf(Reply.Stale.class);
        epoch = 0;
        gone.add(WAITER.session());
        assertThat(execute(claim)).isInstanceOf(Reply.SessionEnded.class);
        assertThat(step.isChange()).isFalse();
        assertThat(step.writers()).isEmpty();
        gone.clear();
        assertThat(execute(claim)).isInstanceOf(Reply.Granted.class);
    }
}
