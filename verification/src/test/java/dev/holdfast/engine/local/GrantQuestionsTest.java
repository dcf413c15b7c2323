package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.PassCoverage;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the grants of one resource ask the store, without the resource. */
@DisplayName("The grants of a resource ask")
class GrantQuestionsTest extends GrantsFixture {

    private void prepare(Grant grant, Request served) {
        DeferredActions deferred = new DeferredActions();
        grants.prepareHandOver(grant, served, queue, deferred);
        deferred.send();
    }

    private void ask(Grant grant) {
        DeferredActions deferred = new DeferredActions();
        grants.ask(grant, deferred);
        deferred.send();
    }

    private int advances() {
        return link.sent(Command.Advance.class).size();
    }

    private int polls() {
        return link.sent(Command.Poll.class).size();
    }

    @Test
    @DisplayName("for as many tokens as the cohorts before used, at least one and, once handed over, a block")
    void tokens() {
        assertThat(grants.tokensToAsk(queue)).isEqualTo(1);
        queue.append(request(alice));
        assertThat(grants.tokensToAsk(queue)).isEqualTo(1);
        queue.append(request(bob));
        assertThat(grants.tokensToAsk(queue)).isEqualTo(32);

        Grant grant = grant(200);
        grant.begin(new CohortState(false));
        RequestQueue none = new RequestQueue();
        serve(grant, request(alice));
        assertThat(grants.tokensToAsk(none)).isEqualTo(1);
        serve(grant, request(alice));
        assertThat(grants.tokensToAsk(none)).isEqualTo(32);
        for (int i = 2; i < 100; i++) {
            serve(grant, request(alice));
        }
        assertThat(grants.tokensToAsk(none)).isEqualTo(200);
        assertThat(grants.end(grant)).isTrue();

        assertThat(grants.tokensToAsk(none)).isEqualTo(1);
        assertThat(grants.tokensToAsk(queue)).isEqualTo(200);
        Grant brief = grant(1);
        brief.begin(new CohortState(false));
        assertThat(grants.end(brief)).isTrue();
        assertThat(grants.tokensToAsk(queue)).isEqualTo(150);
    }

    @Test
    @DisplayName("with strict order for enough tokens for all that wait")
    void strictTokens() {
        grants = of(ResourceSpec.MUTEX, Duration.ZERO);
        for (int i = 0; i < 100; i++) {
            queue.append(request(alice));
        }
        assertThat(grants.tokensToAsk(queue)).isEqualTo(102);
    }

    @Test
    @DisplayName("for tokens when no more are left than were used, one request at a time")
    void advance() {
        link.loseNext(Command.Advance.class);
        Grant grant = grant(6);
        grant.begin(new CohortState(false));
        serve(grant, request(alice));
        serve(grant, request(alice));
        prepare(grant, request(alice));
        assertThat(advances()).isZero();
        serve(grant, request(alice));
        prepare(grant, request(alice));
        assertThat(link.sent(Command.Advance.class)).singleElement().satisfies(sent -> {
            assertThat(sent.blockEnd()).isEqualTo(6);
            assertThat(sent.tokens()).isEqualTo(32);
        });
        prepare(grant, request(alice));
        assertThat(advances()).isEqualTo(1);

        grant.replenish(new Reply.Advanced(new TokenBlock(7, 38), false));
        assertThat(grant.blockEnd()).isEqualTo(38);
        assertThat(grant.cohort().isAdvancing()).isFalse();
        grants.advance(grant, queue, new DeferredActions());
        assertThat(grant.cohort().isAdvancing()).isTrue();
    }

    @Test
    @DisplayName("for tokens on a timer if the thread that got the hold would have to do it")
    void advanceByTimer() {
        link.loseNext(Command.Advance.class);
        Grant grant = grant(1);
        Request mine = request(Thread.currentThread());
        serve(grant, mine);
        prepare(grant, mine);
        assertThat(advances()).isZero();
        world.advance(Duration.ofNanos(1));
        assertThat(advances()).isEqualTo(1);
    }

    @Test
    @DisplayName("for no tokens if the grant serves one request, or its readers need none")
    void noAdvance() {
        Request only = request(alice);
        Grant bound = grant(1, only, null);
        serve(bound, only);
        prepare(bound, only);
        assertThat(advances()).isZero();

        grants = of(READ_WRITE, BUDGET);
        Grant shared = grant(1);
        serve(shared, reader(alice));
        prepare(shared, reader(alice));
        assertThat(advances()).isZero();
        queue.append(request(bob));
        link.loseNext(Command.Advance.class);
        prepare(shared, reader(alice));
        assertThat(advances()).isEqualTo(1);
    }

    @Test
    @DisplayName("for no tokens if what is left of the grant has room for readers only, whoever waits")
    void noAdvanceForReadersOnly() {
        grants = of(READ_WRITE, BUDGET);
        Grant shared = grant(1);
        shared.claim.shrinkTo(1);
        serve(shared, reader(alice));
        queue.append(request(bob));
        prepare(shared, reader(alice));
        assertThat(advances()).isZero();
    }

    @Test
    @DisplayName("for tokens for a batch even if the budget is spent, unless there are no more")
    void advanceForBatch() {
        grants = of(ResourceSpec.MUTEX, Duration.ZERO);
        Request batch = request(alice);
        Request later = request(bob);
        queue.append(batch);
        queue.append(later);
        Grant grant = grant(1, null, new PassCoverage(1));
        grant.begin(new CohortState(true));
        grant.cohort().begin(now());
        serve(grant, request(alice));
        assertThat(grant.tokensLeft()).isZero();
        assertThat(grant.isAdvanceInTime()).isFalse();

        assertThat(grant.mustYieldFor(later)).isTrue();
        assertThat(grant.mustYieldFor(batch)).isFalse();
        grant.replenish(null);
        assertThat(grant.mustYieldFor(batch)).isTrue();
    }

    @Test
    @DisplayName("for scarce tokens a millisecond after the last time")
    void scarce() {
        link.loseNext(Command.Advance.class);
        link.loseNext(Command.Advance.class);
        Grant grant = grant(2);
        serve(grant, request(alice));
        serve(grant, request(alice));
        prepare(grant, request(alice));
        grant.replenish(new Reply.Advanced(new TokenBlock(3, 3), false));
        serve(grant, request(alice));
        prepare(grant, request(alice));
        assertThat(advances()).isEqualTo(1);
        world.advance(Duration.ofNanos(999_999));
        assertThat(advances()).isEqualTo(1);
        world.advance(Duration.ofNanos(1));
        assertThat(advances()).isEqualTo(2);

        link.loseNext(Command.Advance.class);
        grant.replenish(new Reply.Advanced(new TokenBlock(4, 4), false));
        serve(grant, request(alice));
        prepare(grant, request(alice));
        assertThat(advances()).isEqualTo(2);
        world.advance(Duration.ofMillis(1));
        assertThat(advances()).isEqualTo(3);
    }

    @Test
    @DisplayName("whether others wait when the budget is spent, once until there is an answer")
    void budget() {
        link.loseNext(Command.Poll.class);
        link.loseNext(Command.Poll.class);
        Grant grant = grant(100);
        serve(grant, request(alice));
        prepare(grant, request(alice));
        assertThat(polls()).isZero();
        world.advance(BUDGET);
        prepare(grant, request(alice));
        prepare(grant, request(alice));
        assertThat(polls()).isEqualTo(1);

        grant.confirm(new Reply.Granted(new TokenBlock(201, 210), Optional.empty(), false), now());
        assertThat(grant.blockEnd()).isEqualTo(210);
        prepare(grant, request(alice));
        assertThat(polls()).isEqualTo(1);
        world.advance(BUDGET);
        prepare(grant, request(alice));
        assertThat(polls()).isEqualTo(2);

        grant.confirm(new Reply.Granted(new TokenBlock(1, 1), Optional.empty(), true), now());
        prepare(grant, request(alice));
        assertThat(polls()).isEqualTo(2);
        assertThat(grant.isSpent()).isTrue();
        Grant unused = grant(1);
        unused.begin(grant.cohort());
        assertThat(unused.isSpent()).isFalse();
        grants.remove(unused);
        assertThat(grant.mustYieldFor(request(bob))).isTrue();
        assertThat(grants.servingAtOnce(request(bob), true)).isSameAs(grant);
    }

    @Test
    @DisplayName("again after a question that has failed")
    void failedQuestion() {
        link.loseNext(Command.Poll.class);
        link.loseNext(Command.Poll.class);
        Grant grant = grant(100);
        grant.pollFailed();
        serve(grant, request(alice));
        prepare(grant, request(alice));
        world.advance(BUDGET);
        prepare(grant, request(alice));
        grant.pollFailed();
        prepare(grant, request(alice));
        assertThat(polls()).isEqualTo(2);
    }

    @Test
    @DisplayName("with strict order again for a hand-over that waits for a question that has failed")
    void failedQuestionBeforeHandOver() {
        grants = of(ResourceSpec.MUTEX, Duration.ZERO);
        link.loseNext(Command.Poll.class);
        link.loseNext(Command.Poll.class);
        Grant grant = grant(100);
        serve(grant, request(alice));
        ask(grant);
        ask(grant);
        assertThat(polls()).isEqualTo(1);
        grant.pollFailed();
        ask(grant);
        assertThat(polls()).isEqualTo(2);
    }

    @Test
    @DisplayName("with strict order whether others wait, and serve only their batch until the answer")
    void strict() {
        grants = of(ResourceSpec.MUTEX, Duration.ZERO);
        link.loseNext(Command.Poll.class);
        link.loseNext(Command.Poll.class);
        Request batch = request(alice);
        Request later = request(bob);
        queue.append(batch);
        queue.append(later);
        Grant grant = grant(100, null, new PassCoverage(1));
        assertThat(grant.mustAskFirst(later)).isFalse();
        serve(grant, request(alice));

        assertThat(grant.mustAskFirst(later)).isTrue();
        assertThat(grant.mustAskFirst(batch)).isFalse();
        assertThat(grants.servingAtOnce(later, true)).isNull();
        assertThat(grants.servingAtOnce(batch, true)).isSameAs(grant);

        ask(grant);
        assertThat(polls()).isEqualTo(1);
        ask(grant);
        assertThat(polls()).isEqualTo(1);
        grant.confirm(new Reply.Granted(new TokenBlock(1, 1), Optional.empty(), false), now());
        assertThat(grants.servingAtOnce(later, true)).isSameAs(grant);
        assertThat(grant.mustYieldFor(later)).isFalse();

        world.advance(Duration.ofNanos(100_000));
        prepare(grant, batch);
        assertThat(polls()).isEqualTo(2);
        grant.confirm(new Reply.Granted(new TokenBlock(1, 1), Optional.empty(), true), now());
        assertThat(grant.mustAskFirst(later)).isTrue();
        prepare(grant, batch);
        assertThat(polls()).isEqualTo(2);
    }
}
