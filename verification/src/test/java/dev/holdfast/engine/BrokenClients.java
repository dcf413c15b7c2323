package dev.holdfast.engine;

import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.engine.execution.ForwardingEnvironment;
import dev.holdfast.engine.multi.BulkRelease;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Claiming;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Withdraw;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.testkit.sim.ClientUnderTest.Starter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/** Clients of which each breaks one rule: in the engine's own decisions, in its clocks, or in the driver below it. */
final class BrokenClients {

    private BrokenClients() {}

    // ---- Broken decisions

    /** The lease is counted from the answer, and not from before the question. */
    static Starter deadlineFromTheReply() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public long deadline(long sentAt, long answeredAt, long leaseNanos, long marginNanos) {
                return answeredAt + leaseNanos - marginNanos;
            }
        });
    }

    /** Nothing is given up for clocks that run at other rates. */
    static Starter noMargin() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public long margin(long leaseNanos, long p99RoundTripNanos) {
                return 0;
            }
        });
    }

    /** A hold shows the newest token of its grant. */
    static Starter tokenReadLive() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public long shownToken(long own, long newest) {
                return newest;
            }
        });
    }

    /** A grant that came too late for its request is kept. */
    static Starter lateGrantKept() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public boolean returnsUnwantedGrants() {
                return false;
            }
        });
    }

    /** Hands an expired lock over within the process. */
    static Starter handOffPastTheDeadline() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public boolean mayPassOn(long now, long deadline) {
                return true;
            }

            @Override
            public boolean mayHandOn(long now, long deadline, boolean inDoubt) {
                return !inDoubt;
            }
        });
    }

    /** Hands a lock in doubt over within the process. */
    static Starter handOffInDoubt() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public boolean mayHandOn(long now, long deadline, boolean inDoubt) {
                return now - deadline < 0;
            }
        });
    }

    /** Hands over, yields or releases a grant with a live hold. */
    static Starter grantPartedWithUnderALiveHold() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public boolean mayPartWith(boolean holdIsLive) {
                return true;
            }
        });
    }

    /** A claim of unknown outcome is repeated or withdrawn without an end to what may still be on its way. */
    static Starter epochNotRaised() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public boolean raisesEpochWhenUnknown() {
                return false;
            }
        });
    }

    /** A step of the wall clock means nothing. */
    static Starter doubtIgnored() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public boolean stepsRaiseDoubt() {
                return false;
            }
        });
    }

    /** A keep-alive that is acknowledged after the deadline brings the holds back. */
    static Starter lateRenewalCounts() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public boolean mayRenew(long answeredAt, long deadline) {
                return true;
            }
        });
    }

    /** Ignores the deadline. */
    static Starter deadlineIgnored() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public boolean isGood(long now, long deadline) {
                return true;
            }
        });
    }

    // ---- Broken clocks

    /** The client knows the monotonic clock only, which sleeps with the machine. */
    static Starter sleepNotCounted() {
        Starter sound = EngineUnderTest.keeping(new SafetyRules());
        return (store, environment, settings) -> sound.start(store, new OneClock(environment), settings);
    }

    // ---- Broken drivers

    /** Releases a grant with a live hold as soon as others wait. */
    static Starter yieldUnderALiveHold() {
        return above(store -> new Driver(store) {
            @Override
            CompletionStage<Reply> execute(Command command) {
                return super.execute(command).thenApply(reply -> {
                    if (command instanceof Command.Advance advance
                            && reply instanceof Reply.Advanced advanced
                            && advanced.awaited()) {
                        var unused = super.execute(new Release(advance.claim()));
                    }
                    return reply;
                });
            }
        });
    }

    /** A claim that was not answered is taken for one that had no effect. */
    static Starter unknownTakenForNoEffect() {
        return above(store -> new Driver(store) {
            @Override
            CompletionStage<Reply> execute(Command command) {
                CompletionStage<Reply> answer = super.execute(command);
                return !(command instanceof Claiming)
                        ? answer
                        : answer.exceptionallyCompose(failure -> CompletableFuture.failedFuture(new StoreException(
                                StoreException.Reason.UNAVAILABLE, Effect.NONE, "it will not have arrived", failure)));
            }
        });
    }

    /** What ends a claim is sent once; if it fails, it is taken for done. */
    static Starter endingsNotRepeated() {
        return above(store -> new Driver(store) {
            @Override
            CompletionStage<Reply> execute(Command command) {
                CompletionStage<Reply> answer = super.execute(command);
                if (command instanceof Release) {
                    return answer.exceptionally(failure -> new Reply.Released());
                }
                return command instanceof Withdraw ? answer.exceptionally(failure -> new Reply.Done()) : answer;
            }
        });
    }

    /** Forgets unwanted claims without telling the store. */
    static Starter withdrawalsForgotten() {
        return above(store -> new Driver(store) {
            @Override
            CompletionStage<Reply> execute(Command command) {
                return command instanceof Withdraw
                        ? CompletableFuture.completedFuture(new Reply.Done())
                        : super.execute(command);
            }
        });
    }

    /** A claim that was not answered is taken for one that was refused for good. */
    static Starter unknownTakenForRefused() {
        return above(store -> new Driver(store) {
            @Override
            CompletionStage<Reply> execute(Command command) {
                CompletionStage<Reply> answer = super.execute(command);
                return !(command instanceof Claiming)
                        ? answer
                        : answer.exceptionally(
                                failure -> new Reply.Refused(Refusal.MISMATCH, "it must be in use otherwise"));
            }
        });
    }

    /** The session is opened and then left to itself. */
    static Starter nothingRenewed() {
        return above(store -> new Driver(store) {
            @Override
            CompletionStage<Reply> execute(Command command) {
                return command instanceof Command.KeepAlive
                        ? CompletableFuture.failedFuture(new StoreException(
                                StoreException.Reason.UNAVAILABLE, Effect.NONE, "it is not sent", null))
                        : super.execute(command);
            }
        });
    }

    /** Sends commands after the client was closed. */
    static Starter keepsAliveAfterTheClose() {
        return above(store -> new Driver(store) {
            @Override
            CompletionStage<Reply> execute(Command command) {
                CompletionStage<Reply> answer = super.execute(command);
                if (command instanceof Command.CloseSession close) {
                    var unused = answer.whenComplete(
                            (reply, failure) -> super.execute(new Command.KeepAlive(close.session(), 0)));
                }
                return answer;
            }
        });
    }

    /** The driver retries unanswered commands without the engine. */
    static Starter driverRetries() {
        return above(store -> new Driver(store) {
            @Override
            CompletionStage<Reply> execute(Command command) {
                return super.execute(command)
                        .exceptionallyCompose(failure ->
                                isUnknown(failure) ? super.execute(command) : CompletableFuture.failedFuture(failure));
            }
        });
    }

    /** What was acquired of several is kept when not all can be had. */
    static Starter undoForgotten() {
        return above(store -> new Driver(store) {
            @Override
            CompletionStage<Reply> execute(Command command) {
                boolean isUndo = command instanceof Release
                        && StackWalker.getInstance()
                                .walk(frames -> frames.anyMatch(
                                        frame -> frame.getClassName().equals(BulkRelease.class.getName())));
                return isUndo ? CompletableFuture.completedFuture(new Reply.Released()) : super.execute(command);
            }
        });
    }

    /** The store is asked for half of an extension. */
    static Starter extensionsToldTooLong() {
        return above(store -> new Driver(store) {
            @Override
            CompletionStage<Reply> execute(Command command) {
                if (command instanceof Command.Extend extend) {
                    Command.Extend half = new Command.Extend(
                            extend.claim(), extend.seq(), extend.lease().dividedBy(2));
                    return super.execute(half)
                            .thenApply(reply -> reply instanceof Reply.Extended told
                                    ? new Reply.Extended(
                                            told.seq(), told.remaining().multipliedBy(2))
                                    : reply);
                }
                return super.execute(command);
            }
        });
    }

    /** Each attempt of a count-down has a new id. */
    static Starter countDownsNotNamed() {
        AtomicLong sendings = new AtomicLong();
        return above(store -> new Driver(store) {
            @Override
            CompletionStage<Reply> execute(Command command) {
                return super.execute(
                        command instanceof Command.CountDown down
                                ? new Command.CountDown(
                                        down.resource(), down.generation(), "s" + sendings.incrementAndGet(), down.n())
                                : command);
            }
        });
    }

    /** Every caller that sets a count believes that it did, whatever the store replies. */
    static Starter everySetterBelievesIt() {
        return above(store -> new Driver(store) {
            @Override
            CompletionStage<Reply> execute(Command command) {
                return super.execute(command)
                        .thenApply(reply -> command instanceof Command.SetCount set && reply instanceof Reply.Count told
                                ? new Reply.Count(set.generation(), told.remaining())
                                : reply);
            }
        });
    }

    /** Who acquires again what it has is not counted: the first release ends it. */
    static Starter nestingNotCounted() {
        Starter sound = EngineUnderTest.keeping(new SafetyRules());
        return (store, environment, settings) -> sound.start(store, environment, settings)
                .thenApply(client -> new EngineUnderTest(((EngineUnderTest) client).engine) {
                    @Override
                    public Hold enterAgain(Hold hold, boolean writes) {
                        return hold;
                    }
                });
    }

    static Starter above(UnaryOperator<LockStore> driver) {
        Starter sound = EngineUnderTest.keeping(new SafetyRules());
        return (store, environment, settings) -> sound.start(driver.apply(store), environment, settings);
    }

    private static boolean isUnknown(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        return cause instanceof StoreException known && known.effect() == Effect.UNKNOWN;
    }

    private static final class OneClock extends ForwardingEnvironment {

        OneClock(Environment environment) {
            super(environment);
        }

        @Override
        public long bootNanos() {
            return real.monotonicNanos();
        }

        @Override
        public long wallMillis() {
            return TimeUnit.NANOSECONDS.toMillis(real.monotonicNanos());
        }
    }

    abstract static class Driver extends ForwardingStore {
        Driver(LockStore store) {
            super(store);
        }

        CompletionStage<Reply> execute(Command command) {
            return super.execute(command, CallerMode.ASYNC);
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            return execute(command);
        }
    }
}
