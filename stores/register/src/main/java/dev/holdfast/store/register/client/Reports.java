package dev.holdfast.store.register.client;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.DamagedRecord;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.IndexChange;
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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Reports the state of the store in pages of an audit and of an inspection. It only removes index entries whose claims
 * were deleted with their records. Thread-safe.
 */
final class Reports {

    /** How many records are read at once. */
    private static final int PAGE = 100;

    /**
     * How many holding claims each page of an audit looks up in their records, in turn. Someone may have deleted a
     * record by hand, which its index entries don't show.
     */
    private static final int MAX_CHECKED = 4;

    private final Context context;

    /** How many claims were looked up before. */
    private final AtomicInteger lastChecked = new AtomicInteger();

    Reports(Context context) {
        this.context = context;
    }

    // Audit

    /** What the cursor of an audit begins with that continues in the index, or in the records. */
    private static final String INDEX = "i";

    private static final String RECORDS = "r";

    CompletionStage<Reply> audit(Command.Audit command) {
        return index(command).thenCompose(page -> {
            if (page.isEmpty()) {
                return left(command);
            }
            return deleted(page.get())
                    .thenCompose(deleted -> deleted.isEmpty()
                            ? CompletableFuture.completedFuture(audited(page.get()))
                            : auditedWithout(deleted, command));
        });
    }

    private CompletionStage<Reply> left(Command.Audit command) {
        return left(command.session(), cursor(command, RECORDS), Math.min(PAGE, command.limit()));
    }

    private CompletionStage<Optional<IndexPage>> index(Command.Audit command) {
        return context.adapter().claims(command.session(), cursor(command, INDEX), command.limit());
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

    /** Some claims that hold according to the index but are missing in their records, with these records. */
    private CompletionStage<Map<ClaimRef, RegisterRecord>> deleted(IndexPage page) {
        List<ClaimRef> holders = claims(page, IndexEntry::isHeld);
        Map<ClaimRef, RegisterRecord> deleted = new ConcurrentHashMap<>();
        CompletableFuture<?>[] reads = IntStream.range(0, Math.min(MAX_CHECKED, holders.size()))
                .mapToObj(i -> holders.get(Math.floorMod(lastChecked.getAndIncrement(), holders.size())))
                .map(claim -> context.adapter().read(claim.resource()).thenAccept(record -> {
                    if (!contains(record, claim)) {
                        deleted.put(claim, record);
                    }
                }))
                .map(CompletionStage::toCompletableFuture)
                .toArray(CompletableFuture[]::new);
        return CompletableFuture.allOf(reads).thenApply(all -> deleted);
    }

    /** Whether a record has a claim, including an ended one that no step has dropped, or can't be read. */
    private boolean contains(RegisterRecord record, ClaimRef claim) {
        try {
            return step(claim.resource(), record, facts()).containedBefore(claim);
        } catch (StoreException e) {
            return true;
        }
    }

    /**
     * Reads the page again, without the deleted claims that are still on it; a claim that has ended meanwhile is not.
     * Removes their entries if their records have not changed.
     */
    private CompletionStage<Reply> auditedWithout(Map<ClaimRef, RegisterRecord> deleted, Command.Audit command) {
        return index(command).thenCompose(page -> {
            if (page.isEmpty()) {
                return left(command);
            }
            List<IndexEntry> kept = new ArrayList<>();
            for (IndexEntry entry : page.get().entries()) {
                RegisterRecord record = deleted.get(entry.claim());
                if (record == null || !entry.isHeld()) {
                    kept.add(entry);
                } else {
                    removeEntry(entry.claim(), record);
                }
            }
            return CompletableFuture.completedFuture(
                    audited(new IndexPage(kept, page.get().cursor())));
        });
    }

    private void removeEntry(ClaimRef claim, RegisterRecord record) {
        IndexChange removal = new IndexChange(claim, IndexChange.Kind.RELEASED);
        // What stays is removed by a later audit.
        var unused = context.adapter()
                .write(new ConditionalWrite(
                        claim.resource(),
                        record.version(),
                        record.state(),
                        0,
                        Map.of(),
                        Map.of(),
                        List.of(removal),
                        List.of()));
    }

    private static List<ClaimRef> claims(IndexPage page, Predicate<IndexEntry> which) {
        return page.entries().stream().filter(which).map(IndexEntry::claim).toList();
    }

    /** Reads the next page of records with a claim that has outlived its session: only the records show it. */
    private CompletionStage<Reply> left(SessionId session, Optional<String> cursor, int limit) {
        return views("", cursor, limit).thenCompose(page -> {
            if (!page.damaged.isEmpty()) {
                // A claim that is not listed counts as lost: so a page that may lack one fails.
                return CompletableFuture.failedFuture(
                        page.damaged.values().iterator().next());
            }
            List<ClaimRef> holders = page.steps.stream()
                    .flatMap(step -> step.view().holders().stream())
                    .filter(claim -> claim.session().equals(session))
                    .toList();
            return holders.isEmpty() && page.cursor.isPresent()
                    ? left(session, page.cursor, limit)
                    : CompletableFuture.completedFuture(
                            new Reply.Audited(holders, List.of(), page.cursor.map(RECORDS::concat)));
        });
    }

    // Inspection

    CompletionStage<Reply> inspect(Command.Inspect command) {
        CompletionStage<Page> page = switch (command.scope()) {
            case PREFIX -> views(command.prefix(), command.cursor(), command.limit());
            case WAITED -> waited(command.prefix(), command.cursor(), command.limit());
            case NAME -> view(command.prefix());
        };
        return page.thenCompose(found -> command.scope() == Command.Inspect.Scope.NAME && !found.damaged.isEmpty()
                ? CompletableFuture.failedFuture(
                        found.damaged.values().iterator().next())
                : infos(found));
    }

    /**
     * Steps on records from which all ended claims were dropped, without a write.
     *
     * @param damaged the reasons why other records of the page can't be read
     * @param unnamed the entries under names that no resource can have
     */
    private record Page(
            List<Step> steps,
            Map<ResourceName, StoreException> damaged,
            List<DamagedRecord> unnamed,
            Optional<String> cursor) {

        Page where(Predicate<Step> which) {
            return new Page(steps.stream().filter(which).toList(), damaged, unnamed, cursor);
        }
    }

    private CompletionStage<Page> views(String prefix, Optional<String> cursor, int limit) {
        return context.adapter().list(prefix, cursor, limit).thenCompose(this::views);
    }

    /** Reads pages of records up to one on which claims wait. */
    private CompletionStage<Page> waited(String prefix, Optional<String> cursor, int limit) {
        return context.adapter().list(prefix, cursor, limit).thenCompose(listed -> {
            List<RegisterPage.Entry> some =
                    listed.entries().stream().filter(this::mayBeWaited).toList();
            return some.isEmpty()
                            && listed.unnamed().isEmpty()
                            && listed.cursor().isPresent()
                    ? waited(prefix, listed.cursor(), limit)
                    : views(new RegisterPage(some, listed.unnamed(), listed.cursor()))
                            .thenApply(page ->
                                    page.where(step -> !step.view().waiting().isEmpty()));
        });
    }

    /** Whether a record has waiters, some of which may have ended, or can't be read. */
    private boolean mayBeWaited(RegisterPage.Entry entry) {
        try {
            return !step(entry.resource(), entry.record(), facts())
                    .view()
                    .waiting()
                    .isEmpty();
        } catch (StoreException e) {
            return true;
        }
    }

    private CompletionStage<Page> view(String name) {
        ResourceName resource;
        try {
            resource = new ResourceName(name);
        } catch (IllegalArgumentException e) {
            // No resource has such a name.
            return CompletableFuture.completedFuture(new Page(List.of(), Map.of(), List.of(), Optional.empty()));
        }
        return context.adapter()
                .read(resource)
                .thenCompose(record -> views(new RegisterPage(
                        List.of(new RegisterPage.Entry(resource, record, Duration.ZERO)), Optional.empty())));
    }

    private CompletionStage<Page> views(RegisterPage page) {
        Facts facts = facts();
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
        CompletionStage<?> checked = ids.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : context.adapter()
                        .sessions(ids)
                        .thenAccept(living -> ids.stream()
                                .filter(id -> !living.containsKey(id))
                                .forEach(facts::gone));
        return checked.thenApply(all -> new Page(
                sound.stream()
                        .map(entry -> step(entry.resource(), entry.record(), facts))
                        .toList(),
                damaged,
                page.unnamed(),
                page.cursor()));
    }

    private Facts facts() {
        Facts facts = new Facts(context.sessions());
        facts.time(context.adapter().time());
        facts.wallMillis(context.environment().wallMillis());
        return facts;
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
        Set<ClaimRef> holders = new HashSet<>();
        page.steps.forEach(step -> step.view().holders().stream().limit(PAGE).forEach(holders::add));
        CompletionStage<Map<ClaimRef, String>> annotations = holders.isEmpty()
                ? CompletableFuture.completedFuture(Map.of())
                : context.adapter().annotations(holders);
        return left.thenCombine(annotations, (lefts, texts) -> {
            List<ResourceInfo> infos = new ArrayList<>();
            Facts present = facts();
            page.steps.forEach(step -> step.view()
                    .info(id -> lefts.getOrDefault(id, Duration.ZERO), texts, present)
                    .ifPresent(infos::add));
            List<DamagedRecord> damaged = new ArrayList<>(page.unnamed);
            page.damaged.forEach(
                    (name, why) -> damaged.add(new DamagedRecord(name.value(), String.valueOf(why.getMessage()))));
            return new Reply.Inspected(infos, damaged, page.cursor);
        });
    }
}
