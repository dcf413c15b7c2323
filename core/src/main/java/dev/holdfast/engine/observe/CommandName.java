package dev.holdfast.engine.observe;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.CommandHandler;

/** The name of each command, for metrics. */
final class CommandName implements CommandHandler<String, RuntimeException> {

    static final CommandName INSTANCE = new CommandName();

    private CommandName() {}

    @Override
    public String openSession(Command.OpenSession command) {
        return "open-session";
    }

    @Override
    public String keepAlive(Command.KeepAlive command) {
        return "keep-alive";
    }

    @Override
    public String retire(Command.Retire command) {
        return "retire";
    }

    @Override
    public String closeSession(Command.CloseSession command) {
        return "close-session";
    }

    @Override
    public String audit(Command.Audit command) {
        return "audit";
    }

    @Override
    public String acquire(Command.Acquire command) {
        return "acquire";
    }

    @Override
    public String poll(Command.Poll command) {
        return "poll";
    }

    @Override
    public String withdraw(Command.Withdraw command) {
        return "withdraw";
    }

    @Override
    public String release(Command.Release command) {
        return "release";
    }

    @Override
    public String yieldFor(Command.Yield command) {
        return "yield";
    }

    @Override
    public String advance(Command.Advance command) {
        return "advance";
    }

    @Override
    public String shrinkTo(Command.ShrinkTo command) {
        return "shrink-to";
    }

    @Override
    public String extend(Command.Extend command) {
        return "extend";
    }

    @Override
    public String annotate(Command.Annotate command) {
        return "annotate";
    }

    @Override
    public String setCount(Command.SetCount command) {
        return "set-count";
    }

    @Override
    public String countDown(Command.CountDown command) {
        return "count-down";
    }

    @Override
    public String resize(Command.Resize command) {
        return "resize";
    }

    @Override
    public String forceRelease(Command.ForceRelease command) {
        return "force-release";
    }

    @Override
    public String recordRun(Command.RecordRun command) {
        return "record-run";
    }

    @Override
    public String listRuns(Command.ListRuns command) {
        return "list-runs";
    }

    @Override
    public String inspect(Command.Inspect command) {
        return "inspect";
    }
}
