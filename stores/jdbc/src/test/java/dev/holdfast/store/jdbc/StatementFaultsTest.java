package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Permits;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("A statement that fails")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class StatementFaultsTest {

    /** More than a round needs; polls make the number vary. */
    private static final int MOST = 60;

    static Stream<Arguments> passing() {
        return Stream.of(TestDatabase.POSTGRES, TestDatabase.MARIADB)
                .flatMap(database -> Stream.of(FaultySource.Fault.values())
                        .filter(fault -> fault != FaultySource.Fault.DISK_FULL)
                        .map(fault -> Arguments.of(database, fault)));
    }

    private static Holdfast client(TestSource source) {
        return Holdfast.builder(JdbcStore.builder(source)
                        .keepsConnections()
                        .listens(false)
                        .open())
                .storeTimeout(Duration.ofSeconds(30))
                .build();
    }

    @ParameterizedTest
    @MethodSource("passing")
    @DisplayName("for a reason that passes is noticed by nobody, whichever one it is, and leaves nothing behind")
    void anyStatement(TestDatabase database, FaultySource.Fault fault) throws Exception {
        FaultySource faulty = new FaultySource(database.newUrl());
        try (Holdfast one = client(faulty);
                Holdfast other = client(new TestSource(faulty.url()))) {
            round(one, other, "warm");
            int number = 0;
            do {
                number++;
                faulty.failAt(number, fault);
                round(one, other, "n" + number);
            } while (faulty.hasFailed() && number < MOST);
            faulty.heal();
            assertThat(number).isGreaterThan(12);
        }
        // The id of an ended session may still be in a row; it has no effect.
        assertThat(faulty.text("SELECT count(*) FROM holdfast_session")).isEqualTo("0");
        assertThat(faulty.text("SELECT count(*) FROM holdfast_claim")).isEqualTo("0");
    }

    /** Some commands of every kind, with increasing tokens. */
    private static void round(Holdfast one, Holdfast other, String name) throws Exception {
        Hold first = get(one.lock(name).acquireAsync());
        CompletableFuture<Hold> waiting = other.lock(name).acquireAsync().toCompletableFuture();
        long token = first.fencingToken();
        first.close();
        Hold second = get(waiting);
        assertThat(second.fencingToken()).isGreaterThan(token);
        token = second.fencingToken();
        CompletableFuture<Hold> back = one.lock(name).acquireAsync().toCompletableFuture();
        second.close();
        Hold third = get(back);
        assertThat(third.fencingToken()).isGreaterThan(token);
        assertThat(other.lock(name).tryAcquire()).isEmpty();
        third.close();
        try (Permits permits = one.semaphore(name + "-s", 3).acquire(2)) {
            assertThat(permits.isHeld()).isTrue();
            assertThat(other.semaphore(name + "-s", 3).tryAcquire(2)).isEmpty();
        }
        // If the latch is reported as already set, an attempt of this call may have set it.
        boolean isFirst = one.latch(name + "-l").trySetCount(2);
        assertThat(one.latch(name + "-l").count()).as("set first: " + isFirst).isEqualTo(2);
        assertThat(one.latch(name + "-l").countDown("a")).isEqualTo(1);
        assertThat(other.latch(name + "-l").countDown("b")).isZero();
        assertThat(one.latch(name + "-l").await(Duration.ofSeconds(60))).isTrue();
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("for want of room is told as such and has changed nothing; when there is room, all goes on")
    void diskFull(TestDatabase database) throws Exception {
        FaultySource faulty = new FaultySource(database.newUrl());
        try (Holdfast one = client(faulty);
                Hold kept = get(one.lock("kept").acquireAsync())) {
            // The two statements of a name's first acquire.
            for (int number = 1; number <= 2; number++) {
                String name = "n" + number;
                // Not at a single statement, which could be the one that undoes the earlier failure.
                faulty.failFrom(number, FaultySource.Fault.DISK_FULL);
                assertThatThrownBy(() -> one.lock(name).acquire())
                        .isInstanceOf(StoreRefusedException.class)
                        .hasMessageContaining("has no space left");
                assertThat(kept.isHeld()).isTrue();
                faulty.heal();
                try (Hold hold = one.lock(name).acquire()) {
                    assertThat(hold.isHeld()).isTrue();
                }
            }
        }
    }
}
