package dev.holdfast.engine.deadlock;

import java.util.List;
import java.util.Map;

/**
 * What one pass has found.
 *
 * @param deadlocks confirmed cycles that were not reported before, each beginning with a wait of this client
 * @param lines the lines that each grant of a nested wait is to be annotated with, by request; other grants with none
 * @param pauseNanos the pause before the next pass
 */
public record Findings(List<List<WaitNode>> deadlocks, Map<Object, Map<Object, String>> lines, long pauseNanos) {}
