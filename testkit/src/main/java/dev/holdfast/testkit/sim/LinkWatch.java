package dev.holdfast.testkit.sim;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;

/** Sees what passes between one client and its driver. */
interface LinkWatch {

    void sent(Command command);

    void answered(Command command, Reply reply, long sentAt);

    void failed(Command command, StoreException.Effect effect);

    void told(Signal signal);

    void signalLost(Signal signal);
}
