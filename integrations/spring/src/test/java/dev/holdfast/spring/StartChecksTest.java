package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spring.LockedDefaults.ClientOpening;
import dev.holdfast.spring.LockedDefaults.SelfInvocation;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

@DisplayName("The start of an application refuses @Locked")
class StartChecksTest {

    private final World world = new World();

    @AfterEach
    void close() throws Exception {
        world.close();
    }

    static class Private {
        @Locked("a")
        private void run() {}
    }

    static class Static {
        @Locked("a")
        static void run() {}
    }

    static class FinalMethod {
        @Locked("a")
        final void run() {}

        @Locked("a")
        void other() {}
    }

    static final class FinalClass {
        @Locked("a")
        void run() {}
    }

    static class NotOfTheInterface implements Runnable {
        @Locked("a")
        @Override
        public void run() {}

        @Locked("a")
        public void other() {}
    }

    static class ReturnsFuture {
        @Locked("a")
        Future<String> run() {
            throw new AssertionError();
        }
    }

    static class ReturnsFlux {
        @Locked("a")
        Flux<String> run() {
            throw new AssertionError();
        }
    }

    static class ReturnsStream {
        @Locked("a")
        Stream<String> run() {
            throw new AssertionError();
        }
    }

    static class ReturnsIterator {
        @Locked("a")
        Iterator<String> run() {
            throw new AssertionError();
        }
    }

    static class WaitWithoutUnit {
        @Locked(name = "a", maxWait = "5000")
        void run() {}
    }

    static class WaitOfWords {
        @Locked(name = "a", maxWait = "a while")
        void run() {}
    }

    static class NegativeWait {
        @Locked(name = "a", maxWait = "-5s")
        void run() {}
    }

    static class ShortHold {
        @Locked(name = "a", maxHold = "1ns")
        void run() {}
    }

    static class NoSuchPlaceholder {
        @Locked(name = "${no.such.property}")
        void run() {}
    }

    static class BlankName {
        @Locked(name = " ")
        void run() {}
    }

    static class LongName {
        @Locked(
                name =
                        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                                + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                                + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                                + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                                + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                                + "0123456789012")
        void run() {}
    }

    static class MisspeltParameter {
        @Locked(key = "#orderld")
        void run(String orderId) {}
    }

    static class ConstantAsKey {
        @Locked(key = "invoices")
        void run() {}
    }

    static class BrokenExpression {
        @Locked(key = "#id +")
        void run(String id) {}
    }

    static class TwoNames {
        @Locked(value = "a", name = "b")
        void run() {}
    }

    static class PermitsOfNothing {
        @Locked(name = "a", mode = LockMode.PERMITS)
        void run() {}
    }

    static class PermitsOfMutex {
        @Locked(name = "a", capacity = 3)
        void run() {}
    }

    static class CapacityOfWords {
        @Locked(name = "a", mode = LockMode.PERMITS, capacityString = "many")
        void run() {}
    }

    static class NoSuchFallback {
        @Locked(name = "a", fallback = "otherwise")
        void run(String id) {}

        void otherwise(int other) {}
    }

    static class OtherFallback {
        @Locked(name = "a", fallback = "otherwise")
        String run() {
            return "";
        }

        void otherwise() {}
    }

    static class NoSuchHandler {
        @Locked(name = "a", failureHandler = "handler")
        void run() {}
    }

    static class TwoReactions {
        @Locked(name = "a", onTimeout = TimeoutReaction.SKIP, fallback = "run")
        void run() {}
    }

    static class SkippedNumber {
        @Locked(name = "a", onTimeout = TimeoutReaction.SKIP)
        int run() {
            return 1;
        }
    }

    static class NoSuchClient {
        @Locked(name = "a", client = "other")
        void run() {}
    }

    static class CallsItself {
        @Locked("a")
        void locked(long a, double b) {}

        void run() {
            locked(1L, 2.0);
        }
    }

    static class CallsItselfInLambda {
        @Locked("a")
        void locked() {}

        void run() {
            List.of(1, 2).forEach(each -> locked());
        }
    }

    static class RefersToItself {
        @Locked("a")
        void locked() {}

        Runnable run() {
            return this::locked;
        }
    }

    static class CallsWhatItInherits extends NotCalled {
        void run() {
            locked();
        }
    }

    static class NotCalled {
        @Locked("a")
        void locked() {}
    }

    static class CallsUnderTheSameName {
        @Locked("a")
        void outer(int depth) {
            inner();
            if (depth > 0) {
                outer(depth - 1);
            }
        }

        @Locked(name = "a", maxWait = "1s")
        void inner() {}

        @ScheduledLock(name = "job", atMost = "1m")
        void job(int depth) {
            if (depth > 0) {
                job(depth - 1);
            }
        }

        @Locked(name = "b", key = "#id")
        void again(int id, int attempt) {
            if (attempt > 0) {
                again(id, attempt - 1);
            }
        }
    }

    static class CallsUnderAnotherName {
        @Locked("a")
        void outer() {
            inner();
        }

        @Locked("b")
        void inner() {}
    }

    static class CallsUnderACondition {
        @Locked(name = "a", condition = "#p0")
        void outer(boolean isLocked) {
            inner();
        }

        @Locked("a")
        void inner() {}
    }

    static class CallsStageUnderTheSameName {
        @Locked("a")
        void outer() {
            var unused = inner();
        }

        @Locked("a")
        CompletableFuture<String> inner() {
            return new CompletableFuture<>();
        }
    }

    static class BrokenTemplate {
        @ScheduledLock(name = "#{nothing.there}", atMost = "1m")
        void run() {}
    }

    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of(Private.class, "private method"),
                Arguments.of(Static.class, "static method"),
                Arguments.of(FinalMethod.class, "final method"),
                Arguments.of(FinalClass.class, "final"),
                Arguments.of(NotOfTheInterface.class, "proxyTargetClass = true"),
                Arguments.of(ReturnsFuture.class, "returns Future, whose work continues"),
                Arguments.of(ReturnsFlux.class, "returns Flux, whose work continues"),
                Arguments.of(ReturnsStream.class, "returns Stream, whose work continues"),
                Arguments.of(ReturnsIterator.class, "returns Iterator, whose work continues"),
                Arguments.of(WaitWithoutUnit.class, "Write 5000ms or 5000s"),
                Arguments.of(WaitOfWords.class, "\"a while\" is not a duration"),
                Arguments.of(NegativeWait.class, "maxWait must not be negative"),
                Arguments.of(ShortHold.class, "maxHold"),
                Arguments.of(NoSuchPlaceholder.class, "no.such.property"),
                Arguments.of(BlankName.class, "blank"),
                Arguments.of(LongName.class, "can't be the name of a lock"),
                Arguments.of(MisspeltParameter.class, "#orderld"),
                Arguments.of(ConstantAsKey.class, "put constant text into the attribute 'name'"),
                Arguments.of(BrokenExpression.class, "not an expression"),
                Arguments.of(TwoNames.class, "name"),
                Arguments.of(PermitsOfNothing.class, "permits (1) must be 1 to capacity (0)"),
                Arguments.of(PermitsOfMutex.class, "mode = PERMITS"),
                Arguments.of(CapacityOfWords.class, "\"many\" is not a number"),
                Arguments.of(NoSuchFallback.class, "no fallback method otherwise"),
                Arguments.of(OtherFallback.class, "otherwise returns void instead of String"),
                Arguments.of(NoSuchHandler.class, "no bean 'handler'"),
                Arguments.of(TwoReactions.class, "exclude each other"),
                Arguments.of(SkippedNumber.class, "no int to return"),
                Arguments.of(NoSuchClient.class, "no Holdfast bean named 'other'"),
                Arguments.of(CallsItself.class, "calls it, in run"),
                Arguments.of(CallsItselfInLambda.class, "calls it, in lambda$run"),
                Arguments.of(RefersToItself.class, "calls it, in run"),
                Arguments.of(CallsWhatItInherits.class, "calls it, in run"),
                Arguments.of(CallsUnderAnotherName.class, "calls it, in outer"),
                Arguments.of(CallsUnderACondition.class, "calls it, in outer"),
                Arguments.of(CallsStageUnderTheSameName.class, "calls it, in outer"),
                Arguments.of(BrokenTemplate.class, "can't be evaluated"));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("mistakes")
    @DisplayName("that can't be carried out")
    void refuses(Class<?> mistake, String words) {
        assertThatThrownBy(() -> world.start(mistake)).hasStackTraceContaining(words);
    }

    @Test
    @DisplayName("with a message that says where it is")
    void says() {
        assertThatThrownBy(() -> world.start(Private.class))
                .rootCause()
                .hasMessageStartingWith("@Locked on " + Private.class.getName() + "#run(): ");
    }

    @Test
    @DisplayName("of every bean of a class, not only of the first")
    void again() {
        var context = world.start(Lazily.class);
        assertThatThrownBy(() -> context.getBean("first")).rootCause().hasMessageContaining("private method");
        assertThatThrownBy(() -> context.getBean("second")).rootCause().hasMessageContaining("private method");
    }

    @Configuration(proxyBeanMethods = false)
    static class Lazily {
        @Bean
        @Lazy
        Private first() {
            return new Private();
        }

        @Bean
        @Lazy
        Private second() {
            return new Private();
        }
    }

    static class Early implements BeanFactoryPostProcessor {
        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {}

        @Locked("a")
        void run() {}
    }

    @Test
    @DisplayName("of a bean that was made before there were proxies")
    void early() {
        assertThatThrownBy(() -> world.start(Early.class)).hasMessageContaining("has no proxy");
    }

    @Test
    @DisplayName("if there is no client, but not without @Locked")
    void noClient() {
        var without = world.unstarted(Map.of(), World.Enabled.class, Other.class);
        assertThatCode(without::refresh).doesNotThrowAnyException();
        var with = world.unstarted(Map.of(), World.Enabled.class, NotCalled.class);
        assertThatThrownBy(with::refresh).hasMessageContaining("there is no Holdfast bean to lock with");
    }

    static class Other {
        void run() {}
    }

    @Test
    @DisplayName("and takes what is right: fields, parameters and results that hold the proxy are not the bean itself")
    void takesTheRest() {
        assertThatCode(() -> world.start(CallsThroughTheProxy.class)).doesNotThrowAnyException();
    }

    static class CallsThroughTheProxy {
        CallsThroughTheProxy self;

        @Locked("a")
        void locked() {}

        void byField() {
            self.locked();
        }

        void byParameter(CallsThroughTheProxy other) {
            other.locked();
        }

        Runnable byReference() {
            return self::locked;
        }

        void byMethod() {
            self().locked();
        }

        CallsThroughTheProxy self() {
            return self;
        }
    }

    @Test
    @DisplayName("but not for calls of itself, where these are allowed")
    void selfInvocationAllowed() {
        assertThatCode(() -> world.start(Allowing.class, CallsItself.class)).doesNotThrowAnyException();
    }

    @Test
    @DisplayName("nor for recursion, and calls under the lock that the caller has")
    void covered() {
        CallsUnderTheSameName bean = world.start(CallsUnderTheSameName.class).getBean(CallsUnderTheSameName.class);
        bean.outer(3);
        bean.job(3);
        bean.again(7, 3);
    }

    @Test
    @DisplayName("nor for classes in which they are allowed")
    void selfInvocationAllowedInClass() {
        assertThatCode(() -> world.start(AllowingOne.class, CallsItself.class)).doesNotThrowAnyException();
        assertThatThrownBy(() -> world.start(AllowingOne.class, RefersToItself.class))
                .hasStackTraceContaining("its own class calls it");
    }

    @Configuration(proxyBeanMethods = false)
    static class AllowingOne {
        @Bean
        LockedDefaults lockedDefaults() {
            return LockedDefaults.standard().withSelfInvocation(CallsItself.class, SelfInvocation.ALLOW);
        }
    }

    @Test
    @DisplayName("in a child context that does not make it effective")
    void childContext() throws Exception {
        AnnotationConfigApplicationContext parent = world.start(NotCalled.class);
        assertThatThrownBy(() -> child(parent, NotCalled.class))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("NotCalled#locked()", "is in a child context");
        child(parent, NotCalled.class, World.Enabled.class);
        child(parent, Allowing.class);
    }

    private void child(AnnotationConfigApplicationContext parent, Class<?>... classes) {
        AnnotationConfigApplicationContext child = world.unstarted(Map.of(), classes);
        child.setParent(parent);
        child.refresh();
    }

    @Configuration(proxyBeanMethods = false)
    static class Allowing {
        @Bean
        LockedDefaults lockedDefaults() {
            return LockedDefaults.standard().withSelfInvocation(SelfInvocation.WARN);
        }
    }

    private AnnotationConfigApplicationContext withLazyClient(Supplier<Holdfast> client, Class<?>... classes) {
        AnnotationConfigApplicationContext context = world.unstarted(Map.of(), World.Enabled.class);
        context.register(classes);
        RootBeanDefinition definition = new RootBeanDefinition(Holdfast.class, client);
        definition.setLazyInit(true);
        context.registerBeanDefinition("holdfast", definition);
        return context;
    }

    @Configuration(proxyBeanMethods = false)
    static class OnFirstUse {
        @Bean
        LockedDefaults lockedDefaults() {
            return LockedDefaults.standard().withClientOpening(ClientOpening.ON_FIRST_USE);
        }
    }

    @Test
    @DisplayName("whose client can't be made, and makes a client that is lazy")
    void lazyClient() {
        var context = withLazyClient(() -> Holdfast.connect(world.uri), NotCalled.class);
        context.refresh();
        assertThat(context.getBeanFactory().containsSingleton("holdfast")).isTrue();
        var refused = withLazyClient(StartChecksTest::refuse, NotCalled.class);
        assertThatThrownBy(refused::refresh).rootCause().isInstanceOf(StoreException.class);
    }

    @Test
    @DisplayName("but not if clients are to be opened on first use: then the call gets the failure")
    void onFirstUse() {
        var context = withLazyClient(() -> Holdfast.connect(world.uri), OnFirstUse.class, NotCalled.class);
        context.refresh();
        assertThat(context.getBeanFactory().containsSingleton("holdfast")).isFalse();
        context.getBean(NotCalled.class).locked();
        assertThat(context.getBeanFactory().containsSingleton("holdfast")).isTrue();

        var refused = withLazyClient(StartChecksTest::refuse, OnFirstUse.class, NotCalled.class);
        refused.refresh();
        NotCalled bean = refused.getBean(NotCalled.class);
        assertThatThrownBy(bean::locked)
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContainingAll("NotCalled#locked() was not run", "the password is wrong");
    }

    static class Deferred {
        @Locked("a")
        CompletionStage<String> stage() {
            throw new AssertionError();
        }

        @Locked("a")
        Mono<String> mono() {
            throw new AssertionError();
        }

        @Locked(name = "a", failureHandler = "handler")
        CompletionStage<String> handled() {
            throw new AssertionError();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Handling {
        @Bean
        LockFailureHandler handler() {
            return failure -> CompletableFuture.completedFuture("handled");
        }
    }

    @Test
    @DisplayName("which a stage or a Mono tells like any other failure, also to a handler")
    void deferred() {
        var context = withLazyClient(StartChecksTest::refuse, OnFirstUse.class, Handling.class, Deferred.class);
        context.refresh();
        Deferred bean = context.getBean(Deferred.class);
        assertThatThrownBy(() -> bean.stage().toCompletableFuture().get())
                .cause()
                .isInstanceOf(StoreRefusedException.class);
        Mono<String> mono = bean.mono();
        assertThatThrownBy(mono::block).isInstanceOf(StoreRefusedException.class);
        assertThat(bean.handled().toCompletableFuture().join()).isEqualTo("handled");
    }

    private static Holdfast refuse() {
        throw new StoreException(
                StoreException.Reason.DENIED, StoreException.Effect.NONE, "the password is wrong", null);
    }
}
