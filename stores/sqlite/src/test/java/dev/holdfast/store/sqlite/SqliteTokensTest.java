package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Tokens;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The fast path and the ledger reserve tokens by the same rule, for every value of the counter. */
class SqliteTokensTest extends OnManualTime {

    SqliteTokensTest() {
        super(Duration.ofDays(30_000));
    }

    private Reply acquire(int tokens) {
        return client.send(new Command.Acquire(
                client.ref("x"), 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.TRY, tokens));
    }

    @Test
    void everyBlockIsTheOneOfTheRule() throws SQLException {
        SplittableRandom random = new SplittableRandom(42);
        assertThat(acquire(1)).isInstanceOf(Reply.Granted.class);
        long[] distances = {0, 1, 2, 100, 1_000, 16_000, 16_384, 20_000, 1_024_000, 2_000_000, 1L << 40};
        try (Connection connection = Database.open(file);
                PreparedStatement set =
                        connection.prepareStatement("UPDATE holdfast_resource SET session = 0, last_token = ?")) {
            for (int i = 0; i < 1_000; i++) {
                time.advance(Duration.ofMillis(random.nextInt(1, 50)));
                long distance = distances[random.nextInt(distances.length)] + random.nextInt(3) - 1;
                long floor = Tokens.floor(time.unixMicros());
                long last = Math.max(0, random.nextBoolean() ? floor - distance : floor + distance);
                int want = random.nextBoolean() ? 1 : random.nextInt(1, TokenBlock.MAX_SIZE + 1);
                set.setLong(1, last);
                set.executeUpdate();

                TokenBlock expected = Tokens.next(last, time.unixMicros(), want);
                assertThat(acquire(want))
                        .as("last %d, floor %d, %d wanted", last, floor, want)
                        .isEqualTo(new Reply.Granted(expected, Optional.empty(), false));
            }
        }
    }

    @Test
    void aSpentCounterGrantsNothing() {
        assertThat(acquire(1)).isInstanceOf(Reply.Granted.class);
        Database.run(file, "UPDATE holdfast_resource SET session = 0, last_token = " + (TokenBlock.MAX_TOKEN - 1));
        assertThat(acquire(5))
                .isInstanceOfSatisfying(
                        Reply.Granted.class,
                        granted -> assertThat(granted.tokens())
                                .isEqualTo(new TokenBlock(TokenBlock.MAX_TOKEN, TokenBlock.MAX_TOKEN)));

        Database.run(file, "UPDATE holdfast_resource SET session = 0");
        assertThat(acquire(5))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Refusal.EXHAUSTED));
    }

    @Test
    void aYieldWithNoTokenLeftKeepsTheGrant() {
        ClaimRef grant = client.ref("x");
        assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
        Database.run(file, "UPDATE holdfast_resource SET last_token = " + TokenBlock.MAX_TOKEN);

        Command.Acquire next = new Command.Acquire(
                client.ref("x"), 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.QUEUE, 1);

        assertThat(client.send(new Command.Yield(grant, next)))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Refusal.EXHAUSTED));
        assertThat(client.poll(grant)).isInstanceOf(Reply.Granted.class);
    }
}
