package dev.holdfast.store.register.client;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.DamagedRecord;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.IndexEntry;
import dev.holdfast.store.register.IndexPage;
import dev.holdfast.store.register.RegisterPage;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.machine.Facts;
import dev.holdfast.store.register.machine.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/** What the store tells about itself: pages of an audit and of an inspection. Changes nothing. Thread-safe. */
final class Reports {

    /** So many records are read at once. */
    private static final int PAGE = 100;

    private final Context context;

    Reports(Context context) {
        this.context = context;
    }

    // Audit

    /** What the cursor of an audit begins with that continues in the index, or in the records. */
    private static final String INDEX = "i";

    private static final String RECORDS = "r";

    CompletionStage<Reply> audit(Command.Audit command) {
        SessionId session = command.session();
        return context.adapter()
                .claims(session, cursor(command, INDEX), command.limit())
                .thenCompose(page -> page.isPresent()
                        ? CompletableFuture.completedFuture(audited(page.get()))
                        : left(session, cursor(command, RECORDS), Math.min(PAGE, command.limit())));
    }

    private static Optional<String> cursor(Command.Audit command, String kind) {
        return command.cursor()
                .filter(cursor -> cursor.startsWith(kind))
                .map(cursor -> cursor.substring(kind.length()));
    }

    private static Reply audited(IndexPage page) {
        return new Reply.Audited(
                claims(page, IndexEntry::isHeld),
                claims(page, entry -> !entry.isHeld()),
                page.cursor().map(INDEX::concat));
    }

    private static List<ClaimRef> claims(IndexPage page, Predicate<IndexEntry> which) {
        return page.entries().stream().filter(which).map(IndexEntry::claim).toList();
    }

    /** What has outlived its session is in the records alone: the next page of these with a claim of it. */
    private CompletionStage<Reply> left(SessionId session, Optional<String> cursor, int limit) {
        return views("", cursor, limit).thenCompose(page -> {
            if (!page.damaged.isEmpty()) {
                // A claim that is not listed counts as lost: so nothing is listed where one may be missing.
                return CompletableFuture.failedFuture(
                        page.damaged.values().iterator().next());
            }
            List<ClaimRef> held = page.steps.stream()
                    .flatMap(step -> step.view().held().stream())
                    .filter(claim -> claim.session().equals(session))
                    .toList();
            return held.isEmpty() && page.cursor.isPresent()
                    ? left(session, page.cursor, limit)
                    : CompletableFuture.completedFuture(
                            new Reply.Audited(held, List.of(), page.cursor.map(RECORDS::concat)));
        });
    }

    // Inspection

    CompletionStage<Reply> inspect(Command.Inspect command) {
        CompletionStage<Page> page = switch (command.scope()) {
            case PREFIX -> views(command.prefix(), command.cursor(), command.limit());
            case NAME -> view(command.prefix());
        };
        return page.thenCompose(found -> command.scope() == Command.Inspect.Scope.NAME && !found.damaged.isEmpty()
                ? CompletableFuture.failedFuture(
                        found.damaged.values().iterator().next())
                : infos(found));
    }

    /**
     * Steps on records of which all is dropped that is over; they are not written.
     *
     * @param damaged why other records of the page can't be read
     * @param unnamed what is there under a name that no resource can have
     */
    private record Page(
            List<Step> steps,
            Map<ResourceName, StoreException> damaged,
            List<DamagedRecord> unnamed,
            Optional<String> cursor) {}

    private CompletionStage<Page> views(String prefix, Optional<String> cursor, int limit) {
        return context.adapter().list(prefix, cursor, limit).thenCompose(this::views);
    }

    private CompletionStage<Page> view(String name) {
        ResourceName resource;
        try {
            resource = new ResourceName(name);
        } catch (IllegalArgumentException e) {
            // Nothing is called so.
            return CompletableFuture.completedFuture(new Page(List.of(), Map.of(), List.of(), Optional.empty()));
        }
        return context.adapter()
                .read(resource)
                .thenCompose(record -> views(new RegisterPage(
                        List.of(new RegisterPage.Entry(resource, record, Duration.ZERO)), Optional.empty())));
    }

    private CompletionStage<Page> views(RegisterPage page) {
        Facts facts = new Facts(context.sessions());
        facts.time(context.adapter().time());
        Set<SessionId> ids = new HashSet<>();
        List<RegisterPage.Entry> sound = new ArrayList<>();
        Map<ResourceName, StoreException> damaged = new LinkedHashMap<>();
        for (RegisterPage.Entry entry : page.entries()) {
            try {
                ids.addAll(step(entry.resource(), entry.record(), facts).parties(Integer.MAX_VALUE));
                sound.add(entry);
            } catch (StoreException e) {
                damaged.put(entry.resource(), e);
            }
        }
        CompletionStage<?> looked = ids.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : context.adapter()
                        .sessions(ids)
                        .thenAccept(living -> ids.stream()
                                .filter(id -> !living.containsKey(id))
                                .forEach(facts::gone));
        return looked.thenApply(all -> new Page(
                sound.stream()
                        .map(entry -> step(entry.resource(), entry.record(), facts))
                        .toList(),
                damaged,
                page.unnamed(),
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
                            context.adapter().time().latestMicros())
                    .ifPresent(infos::add));
            List<DamagedRecord> damaged = new ArrayList<>(page.unnamed);
            page.damaged.forEach(
                    (name, why) -> damaged.add(new DamagedRecord(name.value(), String.valueOf(why.getMessage()))));
            return new Reply.Inspected(infos, damaged, page.cursor);
        });
    }
}
