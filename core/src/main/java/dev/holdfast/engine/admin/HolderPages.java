package dev.holdfast.engine.admin;

import dev.holdfast.engine.wire.ProtocolViolation;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Collects the record of one name with all of its holders, page by page. Holders may come and go between pages; those
 * that hold it all the time are included. Used by one thread after another.
 */
final class HolderPages {

    /** The first page, and the holders of all pages. */
    record Found(ResourceInfo first, List<Party> holders) {}

    private static final int PAGE = 1_000;

    /** A million holders: the bound for a store whose pages never end. */
    private static final int MAX_PAGES = 1_000;

    private final StoreQuestions questions;
    private final ResourceName name;
    private final CallerMode caller;

    HolderPages(StoreQuestions questions, ResourceName name, CallerMode caller) {
        this.questions = questions;
        this.name = name;
        this.caller = caller;
    }

    /** Completes with the record; empty for none. */
    CompletableFuture<Optional<Found>> collect() {
        return page(Optional.empty()).thenCompose(page -> {
            Optional<ResourceInfo> first = recordIn(page);
            return first.isEmpty()
                    ? CompletableFuture.completedFuture(Optional.empty())
                    : complete(new Found(first.get(), new ArrayList<>()), page, 1)
                            .thenApply(Optional::of);
        });
    }

    private CompletableFuture<Found> complete(Found found, Reply.Inspected page, int pages) {
        recordIn(page).ifPresent(info -> found.holders().addAll(info.holders()));
        return page.cursor().isEmpty() || pages >= MAX_PAGES
                ? CompletableFuture.completedFuture(found)
                : page(page.cursor()).thenCompose(next -> complete(found, next, pages + 1));
    }

    private CompletableFuture<Reply.Inspected> page(Optional<String> cursor) {
        return questions
                .ask(new Inspect(name.value(), cursor, PAGE, Inspect.Scope.NAME), caller)
                .thenApply(reply -> {
                    if (reply instanceof Reply.Inspected page) {
                        return page;
                    }
                    throw ProtocolViolation.reply(reply);
                });
    }

    /** A name that is no longer in use is in no page. */
    private Optional<ResourceInfo> recordIn(Reply.Inspected page) {
        return page.resources().stream()
                .filter(info -> info.name().equals(name))
                .findFirst();
    }
}
