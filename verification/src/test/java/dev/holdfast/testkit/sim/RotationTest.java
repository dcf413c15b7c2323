package dev.holdfast.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.Signal;
import dev.holdfast.store.register.client.BrokenRegisterClients;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Clients of one thread each that pass a lock around in the order of its queue: each requests it again right after its
 * release, while the next one already releases it. Time is virtual, so that counts are exact.
 */
class RotationTest {

    private static final ResourceName LOCK = new ResourceName("hot");
    private static final int HAND_OVERS = 500;
    private static final Duration DISTANCE = Duration.ofMillis(10);

    /** By how many turns of a single client near the server a distant one is passed at most. */
    private static final int MOST_PASSED_BY_ONE = 30;

    /** How many turns a distant client has at least. */
    private static final int LEAST_TURNS = 20;

    private int grants;

    /** Whether the threads stop requesting. */
    private boolean isOver;

    private int idle;

    @Test
    @DisplayName("Those who look at their claims while others pass the lock around add no writes")
    void polls() {
        RemoteRegister register = new RemoteRegister(3, 4_000, false);
        for (int i = 0; i < 10; i++) {
            register.open();
            Member member = new Member(register, i, i);
            begin(member);
            member.pollEach(Duration.ofMillis(2));
        }
        runUntil(register, HAND_OVERS);
        long before = register.writes();
        runUntil(register, 2 * HAND_OVERS);
        double writes = (register.writes() - before) / (double) HAND_OVERS;
        System.out.printf("10 clients that poll: %.2f writes for each hand-over%n", writes);
        assertThat(writes).isLessThanOrEqualTo(2.1);
    }

    @ParameterizedTest
    @CsvSource({
        "2, 2.1, 2.2, 4",
        "3, 2.5, 2.9, 4",
        "4, 2.6, 4, 4.5",
        // Two are the least: one to give the lock on, one to stand in the queue again.
        "10, 2.1, 3.3, 3.5",
        "100, 2.1, 5.9, 4.2",
    })
    @DisplayName("A hand-over to another client needs few writes and reads, however many pass the lock around")
    void rotation(int clients, double writesEach, double requestsEach, double millisEach) {
        RemoteRegister register = new RemoteRegister(1, 4_000, false);
        for (int i = 0; i < clients; i++) {
            register.open();
            begin(new Member(register, i, i));
        }
        runUntil(register, HAND_OVERS);
        long writesBefore = register.writes();
        long requestsBefore = register.requests();
        long began = register.world.now();
        runUntil(register, 2 * HAND_OVERS);
        double writes = (register.writes() - writesBefore) / (double) HAND_OVERS;
        double requests = (register.requests() - requestsBefore) / (double) HAND_OVERS;
        double millis = RemoteRegister.millis(register.world.now() - began) / (double) HAND_OVERS;
        System.out.printf(
                "%d clients: %.2f writes, %.2f requests and %.2f ms for each hand-over%n",
                clients, writes, requests, millis);
        assertThat(writes).isLessThanOrEqualTo(writesEach);
        assertThat(requests).isLessThanOrEqualTo(requestsEach);
        assertThat(millis).isLessThanOrEqualTo(millisEach);
    }

    @ParameterizedTest
    @CsvSource({"1, " + MOST_PASSED_BY_ONE + ", 60", "2, 40, 75", "3, 40, 95", "10, 50, 105", "40, 90, 270"})
    @DisplayName("A client far from the server takes its turn: others pass it while its messages travel, and once each")
    void distant(int near, int most, double millisEach) {
        Turns turns = turnsOfDistant(BrokenRegisterClients.SOUND, near);
        System.out.printf("%d clients and one 10 ms away: %s%n", near, turns);
        assertThat(turns.count()).as("turns of the distant client").isGreaterThan(LEAST_TURNS);
        assertThat(turns.mostPassed()).isLessThanOrEqualTo(most);
        assertThat(turns.millisEach())
                .as("a turn of two round trips, 20 ms each")
                .isLessThanOrEqualTo(millisEach);
    }

    @ParameterizedTest
    @EnumSource(names = {"NEVER_ANNOUNCES", "NOTIFIES_NOBODY", "IGNORES_NOTICES"})
    @DisplayName("A distant client is passed far more often if clients break a rule of their competition")
    void distantAmongBroken(BrokenRegisterClients broken) {
        Turns turns = turnsOfDistant(broken, 1);
        System.out.println(broken + ": " + turns);
        assertThat(turns.mostPassed()).isGreaterThan(2 * MOST_PASSED_BY_ONE);
    }

    /** The turns of a distant client. */
    private record Turns(long count, int mostPassed, double millisEach) {}

    private Turns turnsOfDistant(BrokenRegisterClients clients, int near) {
        RemoteRegister register = new RemoteRegister(5, 4_000, false, clients);
        for (int i = 0; i < near; i++) {
            register.open();
            begin(new Member(register, i, i));
        }
        runUntil(register, HAND_OVERS);
        register.open(DISTANCE.toNanos());
        Member distant = new Member(register, near, near);
        begin(distant);
        long began = register.world.now();
        runUntil(register, 3 * HAND_OVERS);
        double millis =
                RemoteRegister.millis(register.world.now() - began) / (double) Math.max(1, distant.passed.size());
        int mostPassed =
                distant.passed.stream().mapToInt(Integer::intValue).max().orElse(2 * HAND_OVERS);
        return new Turns(distant.passed.size(), mostPassed, millis);
    }

    @Test
    @DisplayName("A claim that is given up does not wait until the holder, which keeps the lock, has queued it")
    void givenUp() {
        RemoteRegister register = new RemoteRegister(6, 4_000, false);
        List<Member> members = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            register.open();
            members.add(new Member(register, i, i));
        }
        members.forEach(RotationTest::begin);
        runUntil(register, HAND_OVERS);
        Member holder = members.get(0);
        Member other = members.get(1);
        holder.keeps = true;
        runFor(register, Duration.ofMillis(50));
        assertThat(holder.isHeld).isTrue();
        assertThat(other.isHeld).isFalse();
        // What was announced is queued by its own client after pauses that grow with each claim.
        for (int i = 0; i < 3; i++) {
            long began = register.world.now();
            boolean[] isOver = {false};
            var unused = register.stores
                    .get(1)
                    .execute(new Command.Withdraw(other.claim(), Command.Sending.FIRST), CallerMode.ASYNC)
                    .thenAccept(reply -> isOver[0] = true);
            while (!isOver[0]) {
                register.world.step();
            }
            assertThat(RemoteRegister.millis(register.world.now() - began)).isLessThanOrEqualTo(15);
            other.acquire();
            runFor(register, Duration.ofMillis(1));
        }
    }

    private static void runFor(RemoteRegister register, Duration time) {
        long end = register.world.now() + time.toNanos();
        while (register.world.now() < end) {
            register.world.step();
        }
    }

    @Test
    @DisplayName(
            "Nobody starves, nor whose claims go through a client that does not know the session and can't announce")
    void strangers() {
        int clients = 10;
        RemoteRegister register = new RemoteRegister(2, 4_000, false);
        for (int i = 0; i <= clients; i++) {
            register.open();
        }
        List<Member> members = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            members.add(new Member(register, i, i < 2 ? clients : i));
        }
        members.forEach(RotationTest::begin);
        runUntil(register, HAND_OVERS);
        assertThat(members).allSatisfy(member -> assertThat(member.claims).isGreaterThan(HAND_OVERS / clients / 4));
    }

    @Test
    @DisplayName("Those who come again keep watching each other, and nobody is watched when all have gone")
    void watches() {
        RemoteRegister register = new RemoteRegister(4, 4_000, false);
        for (int i = 0; i < 10; i++) {
            register.open();
            begin(new Member(register, i, i));
        }
        runUntil(register, HAND_OVERS);
        assertThat(register.watches()).isGreaterThan(10);
        isOver = true;
        long end = register.world.now() + Duration.ofSeconds(5).toNanos();
        while (register.watches() > 0) {
            register.world.step();
            assertThat(register.world.now())
                    .as("%s watches", register.watches())
                    .isLessThan(end);
        }
        assertThat(idle).isEqualTo(10);
    }

    private static void begin(Member member) {
        var unused = member.register.stores.get(member.number).subscribe(member::hear);
        member.acquire();
    }

    private void runUntil(RemoteRegister register, int count) {
        long end = register.world.now() + Duration.ofSeconds(50).toNanos();
        while (grants < count) {
            assertThat(register.world.now()).as("%s grants", grants).isLessThan(end);
            register.world.step();
        }
    }

    /** A client that acquires and releases. */
    private final class Member {

        private final RemoteRegister register;
        private final int number;

        /** The client that sends its commands. */
        private final int sender;

        private long claims;
        private boolean isHeld;

        /** Whether it does not release what it is granted. */
        private boolean keeps;

        /** How many grants there had been when it asked. */
        private int grantsBefore;

        /** How often others were granted the lock while it waited. */
        private final List<Integer> passed = new ArrayList<>();

        Member(RemoteRegister register, int number, int sender) {
            this.register = register;
            this.number = number;
            this.sender = sender;
        }

        private ClaimRef claim() {
            return new ClaimRef(LOCK, register.sessions.get(number), claims);
        }

        void acquire() {
            claims++;
            isHeld = false;
            grantsBefore = grants;
            Command.Acquire command = new Command.Acquire(
                    claim(), 0, Command.Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Command.Waiting.QUEUE, 1);
            send(command);
        }

        private void send(Command command) {
            ClaimRef asked = claim();
            var unused = register.stores
                    .get(sender)
                    .execute(command, CallerMode.ASYNC)
                    .thenAccept(reply -> {
                        Reply answer = reply instanceof Reply.Polled polled
                                ? polled.states().get(0)
                                : reply;
                        if (answer instanceof Reply.Granted) {
                            granted(asked);
                        } else if (answer instanceof Reply.Queued queued) {
                            register.world.after(queued.recheckIn().toNanos(), () -> poll(asked));
                        }
                    });
        }

        void hear(Signal signal) {
            if (signal instanceof Signal.Granted granted) {
                granted(granted.claim());
            } else if (signal instanceof Signal.Changed changed) {
                poll(changed.claim());
            }
        }

        void pollEach(Duration pause) {
            register.world.after(pause.toNanos(), () -> {
                poll(claim());
                pollEach(pause);
            });
        }

        /** What is pushed may be lost. */
        private void poll(ClaimRef asked) {
            if (asked.equals(claim()) && !isHeld) {
                send(new Command.Poll(List.of(asked)));
            }
        }

        private void granted(ClaimRef granted) {
            if (!granted.equals(claim()) || isHeld) {
                return;
            }
            isHeld = true;
            passed.add(grants - grantsBefore);
            grants++;
            if (keeps) {
                return;
            }
            var unused = register.stores
                    .get(sender)
                    .execute(new Command.Release(claim()), CallerMode.ASYNC)
                    .thenAccept(reply -> {
                        if (isOver) {
                            idle++;
                        } else {
                            acquire();
                        }
                    });
        }
    }
}
