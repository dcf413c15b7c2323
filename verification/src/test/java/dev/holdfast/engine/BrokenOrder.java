package dev.holdfast.engine;

import dev.holdfast.engine.BrokenClients.Driver;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.testkit.sim.ClientUnderTest;
import dev.holdfast.testkit.sim.ClientUnderTest.Starter;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.ToIntBiFunction;

/** Clients that break one rule of the order of processes each, or of their shares. */
final class BrokenOrder {

    private BrokenOrder() {}

    // ---- The hand-over in memory, with strict order

    /** Once the store has said that no one waits, a strict lock is handed over in memory for ever. */
    static Starter windowWithoutEnd() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public boolean mayHandOverUnasked(long now, long sentAt, long windowNanos) {
                return true;
            }
        });
    }

    /** A strict lock is handed over in memory for as long after an answer as it may be after its question. */
    static Starter windowFromTheAnswer() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public boolean mayHandOverUnasked(long now, long sentAt, long windowNanos) {
                long roundTrip = windowNanos * 2 / 3;
                return now - sentAt < windowNanos + roundTrip;
            }
        });
    }

    // ---- The batch of a strict grant

    /** A strict grant serves requests that came after its claim was sent, as if they had waited before. */
    static Starter batchWithoutEnd() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public boolean mayServeBeforeOthers(boolean waitedBefore) {
                return true;
            }
        });
    }

    // ---- Turns of a budget

    /** A process never gives way to others while somebody in it wants more. */
    static Starter neverGivesWay() {
        Starter sound = EngineUnderTest.keeping(new SafetyRules());
        return (store, environment, settings) -> sound.start(
                store,
                environment,
                new ClientUnderTest.Settings(
                        settings.sessionTtl(), Duration.ofHours(1), settings.storeTimeout(), settings.label()));
    }

    /** The cohort budget begins with the grant, however late a thread runs. */
    static Starter budgetBeginsWithGrant() {
        return EngineUnderTest.keeping(new SafetyRules() {
            @Override
            public boolean budgetBeginsWithRelease() {
                return false;
            }
        });
    }

    /** Each grant begins with one token, so that the first hand-over waits for more. */
    static Starter oneTokenFirst() {
        return withTokens((command, wanted) -> command instanceof Command.Claiming ? 1 : wanted);
    }

    /** A block of tokens does not grow with what the turns use. */
    static Starter blocksDoNotGrow() {
        return withTokens((command, wanted) -> Math.min(wanted, 32));
    }

    private static Starter withTokens(ToIntBiFunction<Command, Integer> tokens) {
        return BrokenClients.above(store -> new Driver(store) {
            @Override
            CompletionStage<Reply> execute(Command command) {
                if (command instanceof Command.Yield yield) {
                    return super.execute(new Command.Yield(yield.claim(), altered(yield.next())));
                } else if (command instanceof Command.Advance advance) {
                    int wanted = tokens.applyAsInt(advance, advance.tokens());
                    return super.execute(
                            new Command.Advance(advance.claim(), advance.blockEnd(), wanted, advance.atLeast()));
                }
                return super.execute(command instanceof Command.Acquire acquire ? altered(acquire) : command);
            }

            private Command.Acquire altered(Command.Acquire acquire) {
                return new Command.Acquire(
                        acquire.claim(),
                        acquire.epoch(),
                        acquire.sending(),
                        acquire.spec(),
                        acquire.weight(),
                        acquire.lease(),
                        acquire.waiting(),
                        tokens.applyAsInt(acquire, acquire.tokens()));
            }
        });
    }
}
