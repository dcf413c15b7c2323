package dev.holdfast.spring;

import dev.holdfast.Loss;
import java.util.List;

/**
 * A lock was lost while work ran under it. Published on a separate thread as soon as that is known; the work may still
 * be running, see {@link LossReaction}.
 *
 * @param work the work: a description of the method, or of what the template runs
 * @param names all locks of the work
 * @param loss the lost lock, and the reason
 */
public record LockLostEvent(String work, List<String> names, Loss loss) {}
