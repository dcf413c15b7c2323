package dev.holdfast.engine.time.badfixture;

import dev.holdfast.Holdfast;
import dev.holdfast.engine.Engine;
import dev.holdfast.engine.client.SafetyRules;

/** Breaks the rules of the engine's packages, to show that they can fail. */
public abstract class TimeThatLooksUp {

    /** A package above its own. */
    public abstract SafetyRules upwards();

    /** The entrance. */
    public abstract Engine entrance();

    /** The entry point of the API. */
    public abstract Holdfast outwards();
}
