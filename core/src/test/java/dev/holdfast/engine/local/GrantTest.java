package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.TokenBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** The tokens of a grant: each is given once, and they rise, whatever blocks come in whatever order. */
class GrantTest {

    private final Grant grant = grant();

    private static Grant grant() {
        SessionId session = new SessionId("s");
        Claim.Terms terms = new Claim.Terms(Lease.SESSION, 1, Waiting.QUEUE, null, false);
        return new Grant(new Claim(null, 1, new Session(session, 1, 0, 0, 0), terms, 0), null, null);
    }

    private List<Long> tokens(int howMany) {
        List<Long> tokens = new ArrayList<>();
        for (int i = 0; i < howMany; i++) {
            tokens.add(grant.nextToken());
        }
        return tokens;
    }

    @Test
    void thereIsNoneBeforeTheFirstBlock() {
        assertThat(grant.nextToken()).isZero();
        assertThat(grant.tokensLeft()).isZero();
        assertThat(grant.tokenCursor()).isZero();
    }

    @Test
    void blockIsUsedUpFromItsFirstToItsLast() {
        grant.adopt(new TokenBlock(10, 12));
        assertThat(grant.tokensLeft()).isEqualTo(3);
        assertThat(grant.blockEnd()).isEqualTo(12);
        assertThat(grant.tokenCursor()).isEqualTo(9);
        assertThat(tokens(4)).containsExactly(10L, 11L, 12L, 0L);
        assertThat(grant.tokenCursor()).isEqualTo(12);
    }

    @Test
    void sameBlockAgainGivesNoTokenTwice() {
        grant.adopt(new TokenBlock(10, 12));
        assertThat(tokens(2)).containsExactly(10L, 11L);
        grant.adopt(new TokenBlock(10, 12));
        grant.adopt(new TokenBlock(12, 20));
        assertThat(tokens(2)).containsExactly(12L, 0L);
    }

    @Test
    void nextBlockWaitsForTheEndOfTheFirst() {
        grant.begin(new CohortState(false));
        grant.adopt(new TokenBlock(10, 11));
        grant.adopt(new TokenBlock(20, 21));
        assertThat(grant.tokensLeft()).isEqualTo(4);
        assertThat(grant.blockEnd()).isEqualTo(21);
        assertThat(tokens(5)).containsExactly(10L, 11L, 20L, 21L, 0L);
        assertThat(grant.cohort().used).isEqualTo(4);
    }

    @Test
    void spareBlockThatWasOvertakenIsDropped() {
        grant.begin(new CohortState(false));
        grant.adopt(new TokenBlock(10, 11));
        grant.adopt(new TokenBlock(20, 21));
        assertThat(tokens(2)).containsExactly(10L, 11L);
        grant.adopt(new TokenBlock(30, 31));
        List<Long> rest = tokens(5).stream().filter(token -> token != 0).toList();
        assertThat(rest).isSorted().doesNotHaveDuplicates().endsWith(30L, 31L);
    }

    @Property
    void tokensRiseWhateverComes(@ForAll long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Grant some = grant();
        if (random.nextBoolean()) {
            some.begin(new CohortState(false));
        }
        long last = 0;
        for (int i = 0; i < 200; i++) {
            if (random.nextInt(3) == 0) {
                long first = 1 + random.nextLong(300);
                some.adopt(new TokenBlock(first, first + random.nextLong(10)));
            }
            if (some.cohort() == null && random.nextInt(20) == 0) {
                some.begin(new CohortState(false));
            }
            long left = some.tokensLeft();
            long token = some.nextToken();
            assertThat(token == 0).isEqualTo(left == 0);
            if (token != 0) {
                assertThat(token).isGreaterThan(last);
                last = token;
            }
        }
    }
}
