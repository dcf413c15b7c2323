package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits.Admission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** B: input that breaks stores, and the edges of a connection's life. */
@Tag("B")
abstract class InputRules extends ConformanceRules {

    /** Names that must not be taken for each other, or for anything but a name. */
    private static final List<String> NAMES = List.of(
            "a",
            "A",
            "a ",
            " a",
            "a\t",
            "a\n",
            "a\r\n",
            "a\u00a0",
            "a\u0000",
            "a\u0000b",
            "\u0001",
            "\u007f",
            "é",
            "e\u0301",
            "E",
            "e",
            "ß",
            "ss",
            "SS",
            "ı",
            "i",
            "İ",
            "😀",
            "😁",
            "\ud83d\udc68\u200d\ud83d\udc69",
            "\uffff",
            "\u202eabc",
            "\ufeffa",
            "'; DROP TABLE x; --",
            "' OR '1'='1",
            "\"",
            "`",
            "\\",
            "\\\\",
            "%",
            "_",
            "*",
            "?",
            "[a]",
            "{}",
            "}{",
            "{a}b",
            "${jndi:ldap://x}",
            "/",
            "//",
            ".",
            "..",
            "../..",
            "a/",
            "/a",
            "a//b",
            "zookeeper",
            "null",
            "0",
            "00",
            "1e1",
            ":",
            ",",
            "|",
            "a:b",
            "x".repeat(64),
            "x".repeat(65),
            "x".repeat(192),
            "x".repeat(193),
            "x".repeat(255),
            "x".repeat(256),
            "x".repeat(512),
            "x".repeat(511),
            "x".repeat(511) + "y",
            "é".repeat(256),
            "😀".repeat(128));

    @Test
    @DisplayName("B1: names are compared byte for byte, and what looks like a command is a name")
    void namesAreByteExact() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        List<Probe> holders = new ArrayList<>();
        for (String name : NAMES) {
            holders.add(alice.mutex(name).tried().expectGranted());
        }
        for (String name : NAMES) {
            bob.mutex(name).tried().expectRefused(Refusal.TAKEN);
        }
        assertThat(fixture.inspect(""))
                .extracting(info -> info.name().value())
                .containsExactlyInAnyOrderElementsOf(NAMES);
        assertThat(alice.claims())
                .containsExactlyInAnyOrderElementsOf(
                        holders.stream().map(Probe::ref).toList());
        holders.forEach(Probe::release);
        assertThat(fixture.inspect("")).isEmpty();
    }

    @Test
    @DisplayName("B1: a waiter of a strange name is served as any other")
    void strangeNamesAreWaitedFor() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        for (String name : List.of("a\u0000b", "😀".repeat(128), "'; --", "%", "\uffff", "a\r\nb")) {
            Probe holder = alice.mutex(name).expectGranted();
            Probe waits = bob.mutex(name).expectQueued();
            holder.release();
            waits.expectHeld();
        }
    }

    @Test
    @DisplayName("B2: labels are told as they were given")
    void labelsAreKept() {
        for (String label :
                List.of("", "'; DROP TABLE x; --", "😀".repeat(64), "x".repeat(256), "a\u0000b\r\n", "null")) {
            TestClient client = TestClient.open(fixture.first, Duration.ofHours(1), label);
            Probe holder = client.mutex("label").expectGranted();
            assertThat(fixture.info(holder.ref().resource()).holders())
                    .singleElement()
                    .satisfies(party -> assertThat(party.label()).isEqualTo(label));
            holder.release();
        }
    }

    @Test
    @DisplayName("B3: the greatest numbers of claims, epochs and weights are kept exactly")
    void greatestNumbers() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        long greatest = Long.MAX_VALUE;
        Probe holder = alice.mutex("ledger").numbered(greatest).expectGranted();
        Probe near = bob.mutex("ledger").numbered(greatest - 1).expectQueued();
        assertThat(alice.claims()).containsExactly(holder.ref());
        long epoch = Long.MAX_VALUE - 1;
        assertThat(alice.keepAlive(epoch)).isInstanceOf(Reply.SessionAlive.class);
        alice.mutex("other").under(epoch - 1).expectStale();
        alice.mutex("other").under(epoch).expectGranted();
        holder.release();
        near.expectHeld();
        if (fixture.traits.admissions().contains(Admission.COUNTED)) {
            int most = Integer.MAX_VALUE;
            Probe all = alice.permits("wide", most, most).under(epoch).expectGranted();
            assertThat(fixture.info(all.ref().resource()).holders().get(0).weight())
                    .isEqualTo(most);
        }
    }

    @Test
    @DisplayName("B4: a closed connection refuses, and says that nothing came of it; others go on")
    void closedConnectionRefuses() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        fixture.first.close();
        fixture.first.close();
        CompletableFuture<Reply> answer = fixture.first
                .execute(new Command.Release(holder.ref()), CallerMode.BLOCKING)
                .toCompletableFuture();
        fixture.soon("a closed connection answers", answer::isDone);
        assertThat(answer.handle((reply, failure) -> failure == null ? (Object) reply : unwrapped(failure))
                        .join())
                .isInstanceOfSatisfying(StoreException.class, failure -> {
                    assertThat(failure.reason()).isEqualTo(StoreException.Reason.CLOSED);
                    assertThat(failure.effect()).isEqualTo(StoreException.Effect.NONE);
                });
        bob.mutex("ledger").tried().expectRefused(Refusal.TAKEN);
        fixture.needsPortableSessions();
        assertThat(holder.stateThrough(fixture.second)).isInstanceOf(Reply.Granted.class);
        assertThat(ConformanceFixture.send(fixture.second, new Command.KeepAlive(alice.sessionOf(holder), 0)))
                .isInstanceOf(Reply.SessionAlive.class);
    }

    @Test
    @DisplayName("B5: an interrupt changes nothing and stays pending")
    void interruptStaysPending() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger");
        for (CallerMode caller : CallerMode.values()) {
            Thread.currentThread().interrupt();
            CompletableFuture<Reply> answer;
            boolean pending;
            try {
                answer = fixture.first
                        .execute(holder.command(), caller, ConformanceFixture.ANSWER)
                        .toCompletableFuture();
            } finally {
                pending = Thread.interrupted();
            }
            assertThat(pending)
                    .as("the interrupt is still pending with %s", caller)
                    .isTrue();
            assertThat(answer.join()).isInstanceOf(Reply.Granted.class);
        }
        holder.expectHeld();
        holder.release();
        fixture.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("B6: the traits are the same for all connections, and make sense")
    void traitsMakeSense() {
        assertThat(fixture.second.traits()).isEqualTo(fixture.traits);
        assertThat(fixture.traits.product()).isNotBlank();
        assertThat(fixture.traits.system())
                .as("the system, without a version")
                .isNotBlank()
                .doesNotMatch(".*\\d.*");
        assertThat(fixture.traits.admissions()).contains(Admission.EXCLUSIVE);
        assertThat(fixture.traits.minSessionTtl()).isPositive().isLessThanOrEqualTo(fixture.traits.maxSessionTtl());
        assertThat(fixture.traits.ttlGranularity()).isPositive();
        assertThat(fixture.traits.pollEvery()).isPositive();
    }

    @Test
    @DisplayName("B7: a store keeps many names at once apart")
    void manyNames() {
        TestClient alice = fixture.client("alice");
        List<Probe> holders = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            holders.add(alice.mutex("name/" + i).expectGranted());
        }
        assertThat(alice.claims()).hasSize(1_000);
        assertThat(fixture.inspect("name/").stream().map(info -> info.name()).distinct())
                .hasSize(1_000);
        assertThat(fixture.info(new ResourceName("name/517")).holders().get(0).claim())
                .isEqualTo(holders.get(517).ref());
        alice.close();
        assertThat(fixture.inspect("")).isEmpty();
    }

    private static Throwable unwrapped(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof StoreException || cause == null ? failure : cause;
    }
}
