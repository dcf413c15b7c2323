package dev.holdfast.testkit;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Whether an answer of the store under test agrees with that of the reference. Where a store is free they need not be
 * equal: tokens must have the same order, durations may differ a little, and a recheck may be requested earlier.
 */
final class Agreement {

    /** Durations that follow a clock of both may differ by the grain in which the store keeps them. */
    private final Duration grain;

    private final boolean sameClock;
    private final boolean waitersKnown;

    /** Whether a repeated grant may have later tokens. */
    private final boolean retells;

    /** Turns a claim of the store under test into the same claim of the reference. */
    private final UnaryOperator<ClaimRef> toReference;

    /** The blocks of the reference in their order, with what the store under test has returned for each. */
    private final Map<ResourceName, TreeMap<Long, Told>> seen = new HashMap<>();

    /** The lowest token returned for a block, and the end of the newest. */
    private record Told(long begin, TokenBlock newest) {}

    Agreement(
            Duration grain,
            boolean sameClock,
            boolean waitersKnown,
            boolean retells,
            UnaryOperator<ClaimRef> toReference) {
        this.grain = grain;
        this.sameClock = sameClock;
        this.waitersKnown = waitersKnown;
        this.retells = retells;
        this.toReference = toReference;
    }

    /** What is wrong with the first answer; empty if nothing is. */
    Optional<String> differ(ResourceName resource, Reply answer, Reply reference) {
        if (answer instanceof Reply.Granted a && reference instanceof Reply.Granted b) {
            return first(
                    tokens(resource, a.tokens(), b.tokens()),
                    remaining(a.remaining(), b.remaining()),
                    awaited(a.awaited(), b.awaited()));
        } else if (answer instanceof Reply.Advanced a && reference instanceof Reply.Advanced b) {
            return first(tokens(resource, a.tokens(), b.tokens()), awaited(a.awaited(), b.awaited()));
        } else if (answer instanceof Reply.Queued a && reference instanceof Reply.Queued b) {
            return recheck(a.recheckIn(), b.recheckIn());
        } else if (answer instanceof Reply.Refused a && reference instanceof Reply.Refused b) {
            return a.reason() == b.reason() ? Optional.empty() : Optional.of("the reasons differ");
        } else if (answer instanceof Reply.Extended a && reference instanceof Reply.Extended b) {
            return first(
                    a.seq() == b.seq() ? Optional.empty() : Optional.of("the last extensions differ"),
                    remaining(Optional.of(a.remaining()), Optional.of(b.remaining())));
        } else if (answer instanceof Reply.Audited a && reference instanceof Reply.Audited b) {
            boolean same = translated(a.granted()).equals(new HashSet<>(b.granted()))
                    && translated(a.waiting()).equals(new HashSet<>(b.waiting()));
            return same ? Optional.empty() : Optional.of("the claims differ");
        } else if (answer instanceof Reply.Inspected a && reference instanceof Reply.Inspected b) {
            return inspected(a.resources(), b.resources());
        } else if (answer instanceof Reply.SessionOpened && reference instanceof Reply.SessionOpened) {
            return Optional.empty();
        }
        return answer.equals(reference) ? Optional.empty() : Optional.of("the answers differ");
    }

    /** As {@link #differ}, for the answer to a poll. A claim that a resize has ended may be remembered as refused. */
    Optional<String> differInPoll(ResourceName resource, Reply answer, Reply reference) {
        boolean remembered = answer instanceof Reply.Refused refused && refused.reason() == Refusal.TOO_HEAVY;
        return remembered && reference instanceof Reply.Absent ? Optional.empty() : differ(resource, answer, reference);
    }

    private Optional<String> tokens(ResourceName resource, TokenBlock block, TokenBlock reference) {
        TreeMap<Long, Told> known = seen.computeIfAbsent(resource, unused -> new TreeMap<>());
        Told before = known.get(reference.first());
        if (before != null && !block.equals(before.newest()) && !(retells && isNoEarlier(block, before.newest()))) {
            return Optional.of(
                    "the block is another one than before, " + before.newest() + ", but in the reference it is not");
        }
        known.put(reference.first(), new Told(before == null ? block.first() : before.begin(), block));
        Map.Entry<Long, Told> lower = known.lowerEntry(reference.first());
        Map.Entry<Long, Told> higher = known.higherEntry(reference.first());
        if (lower != null && block.first() <= lower.getValue().newest().last()) {
            return Optional.of(
                    "the block is not above " + lower.getValue().newest() + ", which was reserved before it");
        }
        if (higher != null && block.last() >= higher.getValue().begin()) {
            return Optional.of("the block is not below " + higher.getValue().begin()
                    + ", with which begins what was reserved after it");
        }
        return Optional.empty();
    }

    private static boolean isNoEarlier(TokenBlock block, TokenBlock other) {
        return block.first() >= other.first() && block.last() >= other.last();
    }

    private Optional<String> remaining(Optional<Duration> answer, Optional<Duration> reference) {
        if (answer.isPresent() != reference.isPresent()) {
            return Optional.of("one tells what is left of a lease, the other does not");
        }
        boolean apart = sameClock
                && answer.isPresent()
                && answer.get().minus(reference.orElseThrow()).abs().compareTo(grain) > 0;
        return apart ? Optional.of("what is left of the lease differs") : Optional.empty();
    }

    private Optional<String> awaited(boolean answer, boolean reference) {
        return answer == reference || !waitersKnown
                ? Optional.empty()
                : Optional.of("they differ in whether anybody waits");
    }

    private Optional<String> recheck(Duration answer, Duration reference) {
        if (answer.isNegative() || answer.isZero()) {
            return Optional.of("the time to the next look is not positive");
        }
        return sameClock && answer.compareTo(reference.plus(grain)) > 0
                ? Optional.of("the next look would be too late")
                : Optional.empty();
    }

    private Optional<String> inspected(List<ResourceInfo> answer, List<ResourceInfo> reference) {
        Map<ResourceName, ResourceInfo> expected = new HashMap<>();
        reference.forEach(info -> expected.put(info.name(), info));
        Set<ResourceName> names = new HashSet<>();
        for (ResourceInfo info : answer) {
            ResourceInfo other = expected.get(info.name());
            boolean same = names.add(info.name())
                    && other != null
                    && info.spec().equals(other.spec())
                    && info.declaredCapacity() == other.declaredCapacity()
                    && parties(info.holders(), true).equals(parties(other.holders(), false))
                    && info.holding() == other.holding()
                    && info.usedCapacity() == other.usedCapacity()
                    && (!waitersKnown || parties(info.waiters(), true).equals(parties(other.waiters(), false)));
            if (!same) {
                return Optional.of("they differ about '" + info.name() + "'");
            }
        }
        return names.equals(expected.keySet()) ? Optional.empty() : Optional.of("they don't name the same resources");
    }

    private List<String> parties(List<ResourceInfo.Party> parties, boolean translate) {
        return parties.stream()
                .map(party -> (translate ? toReference.apply(party.claim()) : party.claim()) + " " + party.weight()
                        + " " + party.label() + " " + party.tokens().isPresent())
                .toList();
    }

    private Set<ClaimRef> translated(List<ClaimRef> claims) {
        Set<ClaimRef> translated = new HashSet<>();
        claims.forEach(claim -> translated.add(toReference.apply(claim)));
        return translated;
    }

    @SafeVarargs
    private static Optional<String> first(Optional<String>... findings) {
        for (Optional<String> finding : findings) {
            if (finding.isPresent()) {
                return finding;
            }
        }
        return Optional.empty();
    }
}
