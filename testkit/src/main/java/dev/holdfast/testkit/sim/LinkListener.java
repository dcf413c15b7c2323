package dev.holdfast.testkit.sim;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;

/** Observes the commands and replies between one client and its driver. */
interface LinkListener {

    void sent(Command command);

    void answered(Command command, Reply reply, long sentAt);

    void failed(Command command, StoreException.Effect effect);

    void signalled(Signal signal);

    void signalLost(Signal signal);
}
