package dev.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * A handler of commands: one method for each of them, called by {@link Command#accept}. A command that is added to the
 * SPI is a compile error in every handler without a method for it.
 *
 * @param <R> the result
 * @param <X> the checked exception that the methods throw, or {@link RuntimeException}
 */
public interface CommandHandler<R extends @Nullable Object, X extends Exception> {

    R openSession(Command.OpenSession command) throws X;

    R keepAlive(Command.KeepAlive command) throws X;

    R retire(Command.Retire command) throws X;

    R closeSession(Command.CloseSession command) throws X;

    R audit(Command.Audit command) throws X;

    R acquire(Command.Acquire command) throws X;

    R poll(Command.Poll command) throws X;

    R withdraw(Command.Withdraw command) throws X;

    R release(Command.Release command) throws X;

    R yieldFor(Command.Yield command) throws X;

    R advance(Command.Advance command) throws X;

    R shrinkTo(Command.ShrinkTo command) throws X;

    R extend(Command.Extend command) throws X;

    R annotate(Command.Annotate command) throws X;

    R setCount(Command.SetCount command) throws X;

    R countDown(Command.CountDown command) throws X;

    R resize(Command.Resize command) throws X;

    R forceRelease(Command.ForceRelease command) throws X;

    R inspect(Command.Inspect command) throws X;

    R recordRun(Command.RecordRun command) throws X;

    R listRuns(Command.ListRuns command) throws X;

    /**
     * A handler that handles all commands on one resource alike.
     *
     * @param <R> the result
     * @param <X> the checked exception that the methods throw, or {@link RuntimeException}
     */
    interface PerResource<R extends @Nullable Object, X extends Exception> extends CommandHandler<R, X> {

        /** Handles a command on one resource. */
        R onResource(Command.OnResource command) throws X;

        @Override
        default R acquire(Command.Acquire command) throws X {
            return onResource(command);
        }

        @Override
        default R withdraw(Command.Withdraw command) throws X {
            return onResource(command);
        }

        @Override
        default R release(Command.Release command) throws X {
            return onResource(command);
        }

        @Override
        default R yieldFor(Command.Yield command) throws X {
            return onResource(command);
        }

        @Override
        default R advance(Command.Advance command) throws X {
            return onResource(command);
        }

        @Override
        default R shrinkTo(Command.ShrinkTo command) throws X {
            return onResource(command);
        }

        @Override
        default R extend(Command.Extend command) throws X {
            return onResource(command);
        }

        @Override
        default R annotate(Command.Annotate command) throws X {
            return onResource(command);
        }

        @Override
        default R setCount(Command.SetCount command) throws X {
            return onResource(command);
        }

        @Override
        default R countDown(Command.CountDown command) throws X {
            return onResource(command);
        }

        @Override
        default R resize(Command.Resize command) throws X {
            return onResource(command);
        }

        @Override
        default R recordRun(Command.RecordRun command) throws X {
            return onResource(command);
        }

        @Override
        default R listRuns(Command.ListRuns command) throws X {
            return onResource(command);
        }

        @Override
        default R forceRelease(Command.ForceRelease command) throws X {
            return onResource(command);
        }
    }
}
