package dev.holdfast.store.memory;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Audit;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Refusals;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Builds the pages of audits and inspections, and the message of a refused try. Changes nothing. */
final class ReferenceReports {

    /** At most this many waiters are listed; the others are only counted. */
    private static final int MAX_WAITERS_SHOWN = 100;

    private ReferenceReports() {}

    /**
     * The cursor is the number of the last claim on the page, so each lasting claim is listed exactly once even if
     * others come and go between pages.
     */
    static Reply audit(State state, Audit command) {
        long after = command.cursor().map(Long::parseLong).orElse(0L);
        List<ClaimRef> grants = new ArrayList<>();
        List<ClaimRef> waiting = new ArrayList<>();
        long last = after;
        for (MemoryClaim claim : state.claimsOf(command.session())) {
            if (claim.number <= after) {
                continue;
            }
            if (grants.size() + waiting.size() == command.limit()) {
                return new Reply.Audited(grants, waiting, Optional.of(Long.toString(last)));
            }
            (claim.tokens == null ? waiting : grants).add(claim.ref);
            last = claim.number;
        }
        return new Reply.Audited(grants, waiting, Optional.empty());
    }

    /** The cursor is the last name on the page. A page lists all holders of a resource. */
    static Reply inspect(State state, Inspect command) {
        Optional<ResourceName> after = command.cursor().map(ResourceName::new);
        List<MemoryResource> found = new ArrayList<>();
        for (MemoryResource resource : state.allInUse()) {
            boolean isNext = after.isEmpty() || resource.name.compareTo(after.get()) > 0;
            if (isNext && isInScope(resource, command)) {
                found.add(resource);
            }
        }
        found.sort(Comparator.comparing(resource -> resource.name));
        boolean more = found.size() > command.limit();
        List<MemoryResource> page = more ? found.subList(0, command.limit()) : found;
        return new Reply.Inspected(
                page.stream().map(resource -> info(state, resource)).toList(),
                more ? Optional.of(page.get(page.size() - 1).name.value()) : Optional.empty());
    }

    private static boolean isInScope(MemoryResource resource, Inspect command) {
        String name = resource.name.value();
        if (command.scope() == Inspect.Scope.WAITED && resource.queue.isEmpty()) {
            return false;
        }
        return switch (command.scope()) {
            case PREFIX, WAITED -> name.startsWith(command.prefix());
            case NAME -> name.equals(command.prefix());
        };
    }

    private static ResourceInfo info(State state, MemoryResource resource) {
        ResourceSpec declared = resource.declared;
        return new ResourceInfo(
                resource.name,
                new ResourceSpec(declared.kind(), resource.capacity, declared.order()),
                declared.capacity(),
                parties(state, resource.grants.values(), Integer.MAX_VALUE),
                resource.grants.size(),
                resource.heldWeight,
                parties(state, resource.queue.values(), MAX_WAITERS_SHOWN),
                resource.queue.size(),
                resource.lastToken);
    }

    private static List<Party> parties(State state, Collection<MemoryClaim> claims, int limit) {
        return claims.stream()
                .limit(limit)
                .map(claim -> new Party(
                        claim.ref,
                        claim.session.label,
                        claim.weight,
                        Optional.ofNullable(claim.tokens),
                        Micros.duration(claim.microsLeft(state.now())),
                        Micros.duration(claim.session.ttl),
                        claim.tokens == null
                                ? Optional.of(Micros.duration(state.now() - claim.queuedAt))
                                : Optional.empty(),
                        claim.annotation))
                .toList();
    }

    /** What keeps a claim from being granted, as users see it. */
    static Reply.Refused taken(State state, MemoryResource resource) {
        for (MemoryClaim grant : resource.grants.values()) {
            TokenBlock tokens = grant.tokens;
            if (tokens != null && grant.weight > 0) {
                return Refusals.heldBy(grant.session.label, tokens.last(), grant.microsLeft(state.now()));
            }
        }
        return resource.isCounting() ? Refusals.LATCH_CLOSED : Refusals.OTHERS_WAIT;
    }
}
