package dev.holdfast.spi.badfixture;

import dev.holdfast.engine.Engine;

/** Breaks the rule of the SPI, to show that it can fail. */
public abstract class SpiThatUsesTheEngine {

    /** The engine in a signature. */
    public abstract Engine engine();
}
