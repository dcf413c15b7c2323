package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.store.ledger.table.SessionRow;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("server")
@DisplayName("The fast path of a database server")
class FastPathTest {

    /** How many states are tested; {@code -Dholdfast.fastpath.seeds} sets more. */
    private static final int SEEDS = Integer.getInteger("holdfast.fastpath.seeds", 30);

    private static final int BATCHES = 25;

    /** The start time of each; arbitrary. */
    private static final long BEGIN = TimeUnit.DAYS.toMicros(20_000);

    private static final long SECOND = 1_000_000;

    /** Live, with a raised epoch, about to expire, and ended. */
    private static final List<long[]> SESSIONS = List.of(
            new long[] {11, 0, BEGIN + 9_999 * SECOND},
            new long[] {12, 5, BEGIN + 9_999 * SECOND},
            new long[] {13, 0, BEGIN + 15 * SECOND},
            new long[] {14, 0, BEGIN - SECOND});

    private static final List<ResourceSpec> SPECS = List.of(
            ResourceSpec.MUTEX,
            new ResourceSpec(Kind.MUTEX, 1, Order.BARGING),
            new ResourceSpec(Kind.SEMAPHORE, 3, Order.FAIR),
            new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, Order.FAIR));

    /** Random batches of commands, more often about existing claims than about others. */
    private static final class Workload {
        private final SplittableRandom random;
        private final List<Acquire> asked = new ArrayList<>();

        /** The last tokens of the newest blocks, by claim. */
        private final Map<ClaimRef, Long> blocks = new HashMap<>();

        private long claims;

        Workload(long seed) {
            random = new SplittableRandom(seed);
        }

        /**
         * Half of the batches have one command, because several fast paths are only for these. Polls are alone too: in
         * a batch a fast path may be answered before them, and no order is guaranteed.
         */
        List<Command> next() {
            if (!asked.isEmpty() && random.nextInt(10) == 0) {
                return List.of(new Command.Poll(
                        List.of(asked.get(random.nextInt(asked.size())).claim())));
            }
            int count = random.nextBoolean() ? 1 : 1 + random.nextInt(5);
            return Stream.generate(this::command).limit(count).toList();
        }

        long pauseMicros() {
            return random.nextInt(4) == 0 ? random.nextLong(4 * SECOND) : random.nextLong(1_000);
        }

        private Command command() {
            int kind = random.nextInt(20);
            if (asked.isEmpty() || kind < 8) {
                return acquire();
            }
            Acquire about = asked.get(Math.max(0, asked.size() - 1 - random.nextInt(8)));
            ClaimRef claim = about.claim();
            if (kind < 14) {
                return new Command.Release(claim);
            } else if (kind < 16) {
                return new Command.Yield(
                        claim, acquire(claim.resource(), SessionRow.numberOf(claim.session()), Waiting.QUEUE));
            } else if (kind < 18) {
                return new Command.Advance(claim, blocks.getOrDefault(claim, 1L), 1 + random.nextInt(40), 0);
            }
            return new Command.Withdraw(claim, Sending.FIRST);
        }

        private Acquire acquire() {
            if (!asked.isEmpty() && random.nextInt(12) == 0) {
                Acquire last = asked.get(asked.size() - 1);
                return new Acquire(
                        last.claim(),
                        last.epoch(),
                        Sending.REPEAT,
                        last.spec(),
                        last.weight(),
                        last.lease(),
                        last.waiting(),
                        last.tokens());
            }
            long session = random.nextInt(3) == 0 ? SESSIONS.get(random.nextInt(SESSIONS.size()))[0] : 11;
            return acquire(
                    new ResourceName("n" + random.nextInt(SPECS.size())),
                    session,
                    random.nextInt(3) == 0 ? Waiting.TRY : Waiting.QUEUE);
        }

        private Acquire acquire(ResourceName name, long session, Waiting waiting) {
            int usual = name.value().charAt(1) - '0';
            ResourceSpec spec = SPECS.get(random.nextInt(25) == 0 ? random.nextInt(SPECS.size()) : usual);
            int weight = random.nextBoolean() ? 1 : 1 + random.nextInt(Math.min(3, spec.capacity()));
            Lease lease = switch (random.nextInt(10)) {
                case 0, 1 -> Lease.bounded(Duration.ofSeconds(1 + random.nextInt(5)));
                case 2 -> Lease.detached(Duration.ofSeconds(1 + random.nextInt(5)));
                default -> Lease.SESSION;
            };
            Acquire acquire = new Acquire(
                    new ClaimRef(name, SessionRow.idOf(session), ++claims),
                    session == 12 && random.nextInt(4) > 0 ? 5 : 0,
                    Sending.FIRST,
                    spec,
                    weight,
                    lease,
                    waiting,
                    random.nextBoolean() ? 1 : 1 + random.nextInt(64));
            asked.add(acquire);
            return acquire;
        }

        void note(List<Command> commands, List<Object> replies) {
            for (int i = 0; i < commands.size(); i++) {
                if (commands.get(i) instanceof Acquire acquire && replies.get(i) instanceof Reply.Granted granted) {
                    blocks.put(acquire.claim(), granted.tokens().last());
                } else if (commands.get(i) instanceof Command.Advance advance
                        && replies.get(i) instanceof Reply.Advanced advanced) {
                    blocks.put(advance.claim(), advanced.tokens().last());
                }
            }
        }
    }

    @OnEachServer
    @DisplayName("answers as the plain steps do, and leaves the same rows")
    void sameAsPlainSteps(TestDatabase database) throws Exception {
        compare(database, UnaryOperator.identity(), SEEDS);
    }

    /** Conditions of the fast paths; a statement without one of them decides differently from the ledger. */
    static Stream<Arguments> conditions() {
        return Stream.of(
                Arguments.of(TestDatabase.POSTGRES, " AND r.session = 0"),
                Arguments.of(TestDatabase.POSTGRES, " AND r.spec = v.spec"),
                Arguments.of(TestDatabase.POSTGRES, " AND s.epoch <= v.epoch"),
                Arguments.of(TestDatabase.MARIADB, "r.session = 0 AND "));
    }

    @ParameterizedTest
    @MethodSource("conditions")
    @DisplayName("is caught here if it leaves out a condition")
    void missingConditionIsFound(TestDatabase database, String condition) {
        assertThatThrownBy(() -> compare(database, sql -> sql.replace(condition, ""), 400))
                .isInstanceOf(AssertionError.class);
    }

    private static void compare(TestDatabase database, UnaryOperator<String> rewriting, int seeds) throws SQLException {
        String url = database.newUrl();
        try (FastPathSide fast = new FastPathSide(url, "fast_", true, rewriting);
                FastPathSide plain = new FastPathSide(url, "plain_", false, UnaryOperator.identity())) {
            for (long seed = 0; seed < seeds; seed++) {
                compare(fast, plain, seed);
            }
        }
    }

    private static void compare(FastPathSide fast, FastPathSide plain, long seed) throws SQLException {
        fast.reset(BEGIN, SESSIONS);
        plain.reset(BEGIN, SESSIONS);
        Workload workload = new Workload(seed);
        List<String> course = new ArrayList<>();
        for (int i = 0; i < BATCHES; i++) {
            long pause = workload.pauseMicros();
            fast.advance(pause);
            plain.advance(pause);
            List<Command> batch = workload.next();
            course.add("after " + pause + " us " + batch);
            List<Object> replies = plain.carryOut(batch);
            assertThat(fast.carryOut(batch))
                    .as("seed %s, replies after%n%s", seed, String.join("\n", course))
                    .isEqualTo(replies);
            assertThat(state(fast, batch))
                    .as("seed %s, rows after%n%s", seed, String.join("\n", course))
                    .isEqualTo(state(plain, batch));
            workload.note(batch, replies);
        }
    }

    /**
     * In the ledger, the grant that a yield pushes to the next owner reports no waiters, because it is made before the
     * yield's own claim is queued. Both are true at their moment, and the next owner polls.
     */
    private static List<String> state(FastPathSide side, List<Command> batch) throws SQLException {
        boolean hasYield = batch.stream().anyMatch(Command.Yield.class::isInstance);
        return side.state().stream()
                .map(row -> hasYield && row.startsWith("Notification[") ? row.replaceAll("awaited=\\w+", "") : row)
                .toList();
    }
}
