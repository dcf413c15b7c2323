package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockWaitTimeoutException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.annotation.AliasFor;

@DisplayName("A method with @Locked")
class LockedTest {

    private final World world = new World();

    @AfterEach
    void close() throws Exception {
        world.close();
    }

    /** What a transfer is about. */
    record Transfer(String from, String to) {}

    /** An object without a text of its own. */
    static class Opaque {}

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @Locked(name = "account", maxWait = "0s", onTimeout = TimeoutReaction.SKIP)
    @interface AccountLocked {
        @AliasFor(annotation = Locked.class, attribute = "key")
        String of();
    }

    static class Accounts {

        private final AtomicInteger calls = new AtomicInteger();

        int calls() {
            return calls.get();
        }

        private <T> T called(Supplier<T> result) {
            calls.incrementAndGet();
            return result.get();
        }

        @Locked("ledger")
        List<String> fixed() {
            return called(CurrentLocks::names);
        }

        @Locked(name = "account", key = "#transfer.from")
        List<String> property(Transfer transfer) {
            return called(CurrentLocks::names);
        }

        @Locked(key = "#transfer.from() + ':' + #p0.to()")
        List<String> expression(Transfer transfer) {
            return called(CurrentLocks::names);
        }

        @Locked(name = "account", key = "#key")
        List<String> object(Object key) {
            return called(CurrentLocks::names);
        }

        @Locked(name = "account", key = "#key.get()")
        List<String> supplied(Supplier<Object> key) {
            return called(CurrentLocks::names);
        }

        @Locked(name = "account", key = "{#transfer.from, #transfer.to}")
        List<String> both(Transfer transfer) {
            CurrentLocks.ensureHeld("account/" + transfer.from());
            CurrentLocks.ensureHeld("account/" + transfer.to());
            return called(CurrentLocks::names);
        }

        @Locked
        List<String> unnamed(String first, int second) {
            return called(CurrentLocks::names);
        }

        @Locked(name = "ledger", condition = "#needed")
        List<String> conditional(boolean needed) {
            return called(CurrentLocks::names);
        }

        @Locked(name = "ledger", condition = "#needed")
        List<String> conditional(Boolean needed) {
            return called(CurrentLocks::names);
        }

        @AccountLocked(of = "#id")
        Optional<List<String>> composed(String id) {
            return called(() -> Optional.of(CurrentLocks.names()));
        }

        @Locked(name = "${locks.ledger}", maxWait = "${locks.wait}")
        List<String> placeholders() {
            return called(CurrentLocks::names);
        }
    }

    private final AnnotationConfigApplicationContext context =
            world.start(Map.of("locks.ledger", "general", "locks.wait", "PT0S"), Accounts.class);
    private final Accounts accounts = context.getBean(Accounts.class);

    @Test
    @DisplayName("runs under the lock, which is free before and after")
    void runsUnderTheLock() {
        assertThat(accounts.fixed()).containsExactly("ledger");
        assertThat(world.isFree("ledger")).isTrue();
        assertThat(CurrentLocks.names()).isEmpty();
    }

    @Test
    @DisplayName("waits while another has the lock, and no longer than it may")
    void waitsForOthers() {
        try (Hold hold = world.other.lock("general").tryAcquire().orElseThrow()) {
            assertThatThrownBy(accounts::placeholders)
                    .isInstanceOf(LockWaitTimeoutException.class)
                    .hasMessageContaining("general");
        }
        assertThat(accounts.calls()).isZero();
        assertThat(accounts.placeholders()).containsExactly("general");
    }

    @Test
    @DisplayName("has the fencing token at hand, which only grows")
    void tellsTheToken() {
        try (Hold hold = world.other.lock("ledger").tryAcquire().orElseThrow()) {
            assertThat(hold.fencingToken()).isPositive();
        }
        assertThatIllegalStateException().isThrownBy(CurrentLocks::fencingToken).withMessageContaining("holds no lock");
        assertThatIllegalStateException()
                .isThrownBy(() -> CurrentLocks.ensureHeld("ledger"))
                .withMessageContaining("'ledger'");
    }

    @Nested
    @DisplayName("with a key")
    class WithKey {

        @Test
        @DisplayName("is locked by the property of a parameter, after the name")
        void byProperty() {
            assertThat(accounts.property(new Transfer("7", "9"))).containsExactly("account/7");
        }

        @Test
        @DisplayName("is locked by an expression alone")
        void byExpression() {
            assertThat(accounts.expression(new Transfer("7", "9"))).containsExactly("7:9");
        }

        @Test
        @DisplayName("evaluates it exactly once")
        void onlyOnce() {
            AtomicInteger evaluations = new AtomicInteger();
            assertThat(accounts.supplied(evaluations::incrementAndGet)).containsExactly("account/1");
            assertThat(evaluations).hasValue(1);
        }

        @Test
        @DisplayName("locks all elements of a collection or an array, each once, in one order")
        void several() {
            assertThat(accounts.both(new Transfer("9", "7"))).containsExactly("account/7", "account/9");
            assertThat(accounts.both(new Transfer("7", "7"))).containsExactly("account/7");
            assertThat(accounts.object(new int[] {2, 1, 2})).containsExactly("account/1", "account/2");
            assertThat(accounts.object(Optional.of(3))).containsExactly("account/3");
        }

        static List<Object> wrongKeys() {
            return Arrays.asList(
                    null,
                    "",
                    "  ",
                    List.of(),
                    Arguments.of((Object) new Object[0]),
                    Optional.empty(),
                    Arrays.asList("7", null),
                    List.of("7", " "),
                    List.of(List.of("7")),
                    Map.of("7", "9"),
                    new Opaque(),
                    new byte[] {7},
                    List.of(new byte[] {7}),
                    new WithPart(new byte[] {7}),
                    new WithPart(new WithPart(new Opaque())),
                    new WithPart(List.of(new int[] {7})),
                    proxy(new Opaque()),
                    new ProxyFactory(new Opaque()).getProxy());
        }

        record WithPart(Object part) {}

        private static Object proxy(Object target) {
            return Proxy.newProxyInstance(
                    LockedTest.class.getClassLoader(),
                    new Class<?>[] {Runnable.class},
                    (proxy, method, arguments) -> method.invoke(target, arguments));
        }

        @Test
        @DisplayName("may be a record of values, a list, or a text that looks like that of an object")
        void records() {
            assertThat(accounts.object(new WithPart(7)).toString()).contains("account/WithPart[part=7]");
            assertThat(accounts.object("[B@7").toString()).contains("account/[B@7");
            assertThat(accounts.object(new WithPart("bob@cafe")).toString()).contains("part=bob@cafe");
        }

        @ParameterizedTest
        @MethodSource("wrongKeys")
        @DisplayName("refuses one that is null, blank, empty or without a text, before anything is locked")
        void refusesWrongKeys(Object key) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> accounts.object(key))
                    .withMessageContaining("key = \"#key\"")
                    .withMessageContaining("Accounts#object(Object)")
                    .withMessageContaining("Nothing was locked");
            assertThat(accounts.calls()).isZero();
            assertThat(world.isFree("account/7")).isTrue();
        }

        @Test
        @DisplayName("refuses one that is too long, and one that fails")
        void refusesWhatIsNoName() {
            assertThatIllegalArgumentException().isThrownBy(() -> accounts.object("x".repeat(600)));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> accounts.property(null))
                    .withMessageContaining("could not be evaluated");
            assertThat(accounts.calls()).isZero();
        }

        @Test
        @DisplayName("takes text as it is, whatever it looks like")
        void plainText() {
            assertThat(accounts.object("${java.home} #{1+1} '; DROP"))
                    .containsExactly("account/${java.home} #{1+1} '; DROP");
        }
    }

    @Test
    @DisplayName("without name and key is locked by its signature")
    void defaultName() {
        assertThat(accounts.unnamed("a", 1)).containsExactly(Accounts.class.getName() + "#unnamed(String,int)");
    }

    @Test
    @DisplayName("runs without the lock where its condition is false, and not at all where it is neither")
    void condition() {
        assertThat(accounts.conditional(true)).containsExactly("ledger");
        assertThat(accounts.conditional(false)).isEmpty();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> accounts.conditional((Boolean) null))
                .withMessageContaining("neither true nor false");
    }

    @Test
    @DisplayName("may have it by an annotation of the application's")
    void composed() {
        assertThat(accounts.composed("7")).hasValue(List.of("account/7"));
        try (Hold hold = world.other.lock("account/7").tryAcquire().orElseThrow()) {
            assertThat(accounts.composed("7")).isEmpty();
        }
    }

    /** What is locked, whoever does it. */
    interface Greeter {
        @Locked(name = "greeting", key = "#guest")
        List<String> greet(String guest);
    }

    static final class PoliteGreeter implements Greeter {
        @Override
        public List<String> greet(String guest) {
            return CurrentLocks.names();
        }
    }

    @Test
    @DisplayName("may have it from an interface, even if its class is final")
    void ofAnInterface() {
        Greeter greeter = world.start(PoliteGreeter.class).getBean(Greeter.class);
        assertThat(AopUtils.isJdkDynamicProxy(greeter)).isTrue();
        assertThat(greeter.greet("7")).containsExactly("greeting/7");
    }
}
