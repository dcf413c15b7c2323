package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockOptions;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.NotOwnerException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Odd input")
class BadInputTest {

    @AutoClose
    private final World world = World.live();

    private final FaultyLink link = world.link();
    private final Holdfast holdfast = world.client("alice", link);

    @Nested
    @DisplayName("as a name")
    class Names {

        static List<String> refused() {
            return List.of(
                    "",
                    " ",
                    "\t\n ",
                    "\u2003",
                    "x".repeat(513),
                    "x".repeat(64 * 1024),
                    "x".repeat(1024 * 1024),
                    "é".repeat(257),
                    "語".repeat(171),
                    "𝄞".repeat(129),
                    "\ud834",
                    "a\udd1eb",
                    "\udd1e\ud834",
                    "end\ud834");
        }

        @ParameterizedTest
        @MethodSource("refused")
        @DisplayName("is refused before anything is asked of the store, in a text that is short")
        void isRefused(String name) {
            link.forget();

            assertThatThrownBy(() -> holdfast.lock(name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(300));

            assertThat(link.sent()).isEmpty();
        }

        static List<String> taken() {
            return List.of(
                    "x".repeat(512),
                    "é".repeat(256),
                    "語".repeat(170),
                    "𝄞".repeat(128),
                    "a",
                    "A",
                    "a ",
                    " a",
                    "é",
                    "e\u0301",
                    "\u0000",
                    "a\u0000b",
                    "a\r\nb",
                    "\u202egnirts",
                    "/",
                    ".",
                    "..",
                    "a/",
                    "//",
                    "zookeeper",
                    "{}",
                    "}{",
                    "{a}b",
                    "'; DROP TABLE holds; --",
                    "%",
                    "_",
                    "\\",
                    "*",
                    "?",
                    "[",
                    "${jndi:ldap://x}",
                    "{}{}",
                    "%s%n",
                    "null");
        }

        @ParameterizedTest
        @MethodSource("taken")
        @DisplayName("that is odd but legal is plain text: a lock of its own")
        void isPlainText(String name) throws InterruptedException {
            try (Hold hold = holdfast.lock(name).acquire()) {
                assertThat(hold.name()).isEqualTo(name);
                assertThat(world.recordOf(name).orElseThrow().name().value()).isEqualTo(name);
                for (String other : taken()) {
                    if (!other.equals(name)) {
                        assertThat(world.recordOf(other))
                                .as("'%s' is not '%s'", other, name)
                                .isEmpty();
                    }
                }
            }
        }

        @Test
        @DisplayName("does not let control characters into any text of ours: nobody forges a line of a log")
        void noControlCharactersInTexts() throws Exception {
            String name = "ledger\r\n2026-01-01 ERROR forged\u0000\u001b[31m\u202e\u2028";
            DistributedLock lock = holdfast.lock(name);
            List<Throwable> thrown = new ArrayList<>();

            thrown.add(thrownBy(lock::unlock));
            Hold hold = lock.acquire();
            thrown.add(thrownBy(() -> world.client("bob").lock(name).acquire(Duration.ZERO)));
            thrown.add(thrownBy(() -> holdfast.lock(name, LockOptions.barging()).tryLock()));
            thrown.add(thrownBy(() -> hold.extend(Duration.ofSeconds(1))));
            thrown.add(thrownBy(() -> world.actor("carol").run(hold::close)));
            thrown.add(thrownBy(() -> world.actor("carol").call(() -> {
                Thread.currentThread().interrupt();
                return lock.acquire();
            })));
            thrown.add(thrownBy(() -> lock.acquire(AcquireOptions.defaults().withMaxHold(Duration.ofSeconds(1)))));
            world.releaseByForce(name);
            thrown.add(thrownBy(hold::fencingToken));
            thrown.add(thrownBy(hold::close));
            thrown.add(thrownBy(hold::ensureHeld));
            link.failNext(Command.Acquire.class, Reason.DENIED, Effect.NONE);
            thrown.add(thrownBy(lock::tryLock));
            link.fail(Command.Acquire.class, Reason.UNAVAILABLE, Effect.NONE);
            thrown.add(thrownBy(lock::tryLock)); // after the store time-out
            thrown.add(thrownBy(() -> holdfast.lock(" \n\u0000".repeat(200) + name)));

            assertThat(thrown)
                    .hasAtLeastOneElementOfType(NotOwnerException.class)
                    .hasAtLeastOneElementOfType(LockWaitTimeoutException.class)
                    .hasAtLeastOneElementOfType(LockLostException.class)
                    .hasAtLeastOneElementOfType(StoreRefusedException.class)
                    .hasAtLeastOneElementOfType(StoreUnavailableException.class);
            for (Throwable each : thrown) {
                assertThat(each.getMessage().codePoints().filter(BadInputTest::isUnprintable))
                        .as("unprintable characters in %s", each)
                        .isEmpty();
                if (each instanceof HoldfastException ours) {
                    assertThat(ours.resource()).isEqualTo(name);
                }
            }
            assertThat(lock.toString().codePoints().filter(BadInputTest::isUnprintable))
                    .isEmpty();
        }
    }

    private static boolean isUnprintable(int codePoint) {
        int type = Character.getType(codePoint);
        return type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR;
    }

    private static Throwable thrownBy(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        Throwable thrown = org.assertj.core.api.Assertions.catchThrowable(call);
        assertThat(thrown).isNotNull();
        return thrown;
    }

    @Nested
    @DisplayName("as a store URI")
    class Uris {

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "",
                    ":",
                    "memory",
                    "//host",
                    "1memory:",
                    "mem ory:",
                    "memory:?x",
                    "memory:?=x",
                    "memory:?a=1&a=2",
                    "memory:?a=%zz",
                    "memory:?unknown=1",
                    "unknown:",
                    "jdbc:h2:mem:x",
                    "redis+evil://host"
                })
        @DisplayName("is refused, with what is known here")
        void isRefused(String uri) {
            assertThatThrownBy(() -> Holdfast.connect(uri)).isInstanceOf(IllegalArgumentException.class);
        }

        @Test
        @DisplayName("of an unknown scheme names those that are on the class path")
        void unknownScheme() {
            assertThatThrownBy(() -> Holdfast.connect("etcd-typo://host"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("etcd-typo", "memory");
        }

        @Test
        @DisplayName("is read without regard to the case of its scheme")
        void schemeIgnoresCase() {
            try (Holdfast upper = Holdfast.connect("MEMORY:")) {
                assertThat(upper.lock("a").tryLock()).isTrue();
            }
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "unknown://user:c4nary@host/db",
                    "unknown://c4nary@host",
                    "unknown://user:c4n/ary:c4nary@host/db",
                    "unknown:///user:c4nary@host",
                    "unknown://user:p@c4nary@host",
                    "unknown:user:c4nary@host",
                    "unknown://host?password=c4nary",
                    "unknown://host?PASSWD=c4nary",
                    "unknown://host?pwd=c4nary",
                    "unknown://host?auth=c4nary",
                    "unknown://host?user=u&sslkey=c4nary&x=1",
                    "unknown://host?accessToken=c4nary",
                    "unknown://host?password=a)b,c4nary",
                    "unknown:(redis://u:c4nary@a,redis://u:c4nary@b?password=c4nary)",
                    "unknown:(redis://u:c4nary@a,unknown:(redis://c4nary@b))?password=c4nary",
                    "user:c4nary@host",
                    "c4nary@host",
                    "memory://user:c4nary@host?x=1",
                    "memory:?password=c4nary",
                    "memory:?password=%zzc4nary",
                    "memory:?password=c4nary&password=c4nary",
                    "memory:?c4nary",
                    " redis://user:c4nary@host"
                })
        @DisplayName("with credentials keeps them out of every text")
        void credentialsStayOut(String uri) {
            Throwable thrown = thrownBy(() -> Holdfast.connect(uri));
            for (Throwable each = thrown; each != null; each = each.getCause()) {
                assertThat(each.toString()).doesNotContain("c4nary");
            }
        }
    }
}
