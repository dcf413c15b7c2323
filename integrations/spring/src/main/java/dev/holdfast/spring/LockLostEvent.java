package dev.holdfast.spring;

import dev.holdfast.Loss;
import java.util.List;

/**
 * A lock was lost while work ran under it. Published on a thread of its own as soon as that is known; the work may run
 * on, see {@link LossReaction}.
 *
 * @param work what ran: the method, or what the template was given
 * @param names all locks of the work
 * @param loss which of them was lost, and why
 */
public record LockLostEvent(String work, List<String> names, Loss loss) {}
