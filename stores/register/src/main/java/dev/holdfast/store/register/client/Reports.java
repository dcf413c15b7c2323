package dev.holdfast.store.register.client;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.IndexEntry;
import dev.holdfast.store.register.RegisterPage;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.machine.Facts;
import dev.holdfast.store.register.machine.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** What the store tells about itself: pages of an audit and of an inspection. Changes nothing. Thread-safe. */
final class Reports {

    /** So many records are read at once. */
    private static final int PAGE = 100;

    private static final Comparator<IndexEntry> BY_CLAIM = Comparator.<IndexEntry, ResourceName>comparing(
                    entry -> entry.claim().resource())
            .thenComparingLong(entry -> entry.claim().claim());

    private final Context context;

    Reports(Context context) {
        this.context = context;
    }

    // Audit

    /** The cursor is the last claim of the page before. */
    CompletionStage<Reply> audit(Command.Audit command) {
        SessionId session = command.session();
        return context.adapter().sessions(Set.of(session)).thenCompose(living -> {
            CompletionStage<List<IndexEntry>> claims = living.containsKey(session)
                    ? context.adapter().claims(session)
                    : left(session, Optional.empty(), new ArrayList<>());
            return claims.thenApply(all -> page(all, command));
        });
    }

    /** What has outlived its session is in the records alone. */
    private CompletionStage<List<IndexEntry>> left(SessionId session, Optional<String> cursor, List<IndexEntry> found) {
        return views("", cursor, PAGE).thenCompose(page -> {
            page.steps.forEach(step -> step.view().held().stream()
                    .filter(claim -> claim.session().equals(session))
                    .forEach(claim -> found.add(new IndexEntry(claim, true))));
            return page.cursor.isPresent()
                    ? left(session, page.cursor, found)
                    : CompletableFuture.completedFuture(found);
        });
    }

    private static Reply page(List<IndexEntry> claims, Command.Audit command) {
        List<IndexEntry> rest = claims.stream()
                .sorted(BY_CLAIM)
                .filter(entry -> command.cursor().isEmpty()
                        || isAfter(entry.claim(), command.cursor().get()))
                .toList();
        List<IndexEntry> page = rest.subList(0, Math.min(rest.size(), command.limit()));
        return new Reply.Audited(
                page.stream().filter(IndexEntry::isHeld).map(IndexEntry::claim).toList(),
                page.stream()
                        .filter(entry -> !entry.isHeld())
                        .map(IndexEntry::claim)
                        .toList(),
                rest.size() == page.size()
                        ? Optional.empty()
                        : Optional.of(cursor(page.get(page.size() - 1).claim())));
    }

    private static String cursor(ClaimRef claim) {
        return claim.claim() + "@" + claim.resource().value();
    }

    private static boolean isAfter(ClaimRef claim, String cursor) {
        int at = cursor.indexOf('@');
        int order = claim.resource().compareTo(new ResourceName(cursor.substring(at + 1)));
        return order > 0 || (order == 0 && claim.claim() > Long.parseLong(cursor.substring(0, at)));
    }

    // Inspection

    CompletionStage<Reply> inspect(Command.Inspect command) {
        CompletionStage<Page> page = switch (command.scope()) {
            case PREFIX -> views(command.prefix(), command.cursor(), command.limit());
            case NAME -> view(command.prefix());
        };
        return page.thenCompose(this::infos);
    }

    /** Steps on records of which all is dropped that is over; they are not written. */
    private record Page(List<Step> steps, Facts facts, Optional<String> cursor) {}

    private CompletionStage<Page> views(String prefix, Optional<String> cursor, int limit) {
        return context.adapter().list(prefix, cursor, limit).thenCompose(this::views);
    }

    private CompletionStage<Page> view(String name) {
        ResourceName resource;
        try {
            resource = new ResourceName(name);
        } catch (IllegalArgumentException e) {
            // Nothing is called so.
            return CompletableFuture.completedFuture(
                    new Page(List.of(), new Facts(context.sessions()), Optional.empty()));
        }
        return context.adapter()
                .read(resource)
                .thenCompose(record ->
                        views(new RegisterPage(List.of(new RegisterPage.Entry(resource, record)), Optional.empty())));
    }

    private CompletionStage<Page> views(RegisterPage page) {
        Facts facts = new Facts(context.sessions());
        facts.time(context.adapter().unixMicros());
        Set<SessionId> ids = new HashSet<>();
        page.entries()
                .forEach(entry ->
                        ids.addAll(step(entry.resource(), entry.record(), facts).parties(Integer.MAX_VALUE)));
        CompletionStage<?> looked = ids.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : context.adapter()
                        .sessions(ids)
                        .thenAccept(living -> ids.stream()
                                .filter(id -> !living.containsKey(id))
                                .forEach(facts::gone));
        return looked.thenApply(all -> new Page(
                page.entries().stream()
                        .map(entry -> step(entry.resource(), entry.record(), facts))
                        .toList(),
                facts,
                page.cursor()));
    }

    private Step step(ResourceName name, RegisterRecord record, Facts facts) {
        return new Step(name, record, facts, context.adapter().traits());
    }

    private CompletionStage<Reply> infos(Page page) {
        Set<SessionId> ids = new HashSet<>();
        page.steps.forEach(step -> ids.addAll(step.parties(PAGE)));
        CompletionStage<Map<SessionId, Duration>> left = ids.isEmpty()
                ? CompletableFuture.completedFuture(Map.of())
                : context.adapter().remaining(ids);
        return left.thenApply(lefts -> {
            List<ResourceInfo> infos = new ArrayList<>();
            page.steps.forEach(step -> step.view()
                    .info(
                            id -> lefts.getOrDefault(id, Duration.ZERO),
                            context.adapter().unixMicros())
                    .ifPresent(infos::add));
            return new Reply.Inspected(infos, page.cursor);
        });
    }
}
