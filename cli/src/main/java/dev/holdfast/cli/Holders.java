package dev.holdfast.cli;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.StoreTraits.TokenSource;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Who holds a lock, as the store tells it, and in words. */
final class Holders {

    private static final int PAGE = 100;
    private static final int MANY = 1_000;
    private static final Duration MOST_AHEAD = Duration.ofDays(1);
    private static final Instant EARLIEST = Instant.parse("2020-01-01T00:00:00Z");

    private Holders() {}

    /** Hands over all resources whose names begin with a prefix, page by page. */
    static void forEach(LockStore store, StoreLocation location, String prefix, Consumer<ResourceInfo> consumer)
            throws InterruptedException {
        Optional<String> cursor = Optional.empty();
        do {
            Reply.Inspected page =
                    (Reply.Inspected) Stores.ask(store, location, new Command.Inspect(prefix, cursor, PAGE));
            page.resources().forEach(consumer);
            cursor = page.cursor();
        } while (cursor.isPresent());
    }

    /** What the store records about one resource, with all who hold it; empty if nothing. */
    static Optional<ResourceInfo> find(LockStore store, StoreLocation location, String name)
            throws InterruptedException {
        Optional<ResourceInfo> found = Optional.empty();
        List<Party> holders = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            Reply.Inspected page = (Reply.Inspected)
                    Stores.ask(store, location, new Command.Inspect(name, cursor, MANY, Command.Inspect.Scope.NAME));
            if (page.resources().isEmpty()) {
                break; // not in use, or not any more
            }
            ResourceInfo info = page.resources().get(0);
            found = found.or(() -> Optional.of(info));
            holders.addAll(info.holders());
            cursor = page.cursor();
        } while (cursor.isPresent());
        return found.map(info -> info.withHolders(holders));
    }

    /** As {@code held by ann@web1 pid 12 'report.sh' since 2026-01-02T03:04:05Z, lease 24s left}. */
    static String describe(ResourceInfo info, TokenSource tokens) {
        if (info.holders().isEmpty()) {
            return info.waiting() == 0
                    ? "free"
                    : "free, and about to be given to the first of " + info.waiting() + " who wait";
        }
        Party holder = info.holders().get(0);
        StringBuilder text = new StringBuilder("held by ").append(label(holder));
        since(holder, tokens).ifPresent(instant -> text.append(" since ").append(instant));
        text.append(", lease ").append(DurationText.format(holder.remaining())).append(" left");
        long others = info.holding() - 1;
        if (others > 0) {
            text.append(", and by ").append(others).append(others == 1 ? " other" : " others");
        }
        return text.toString();
    }

    /** Who it is, safe to print. */
    static String label(Party party) {
        return party.label().isBlank() ? "an unnamed client" : Printable.escape(party.label());
    }

    /**
     * About when a grant was given: tokens that follow the store's clock tell it. Empty where they don't.
     */
    static Optional<Instant> since(Party holder, TokenSource tokens) {
        if (tokens != TokenSource.CLOCKED || holder.tokens().isEmpty()) {
            return Optional.empty();
        }
        long token = holder.tokens().get().first();
        // The inverse of what Tokens.floor does.
        long micros = token / 128 * 125 + token % 128 * 125 / 128;
        Instant instant = Instant.EPOCH.plus(micros, ChronoUnit.MICROS).truncatedTo(ChronoUnit.SECONDS);
        // A counter that was raised runs ahead of the clock, and a new one may begin anywhere.
        boolean plausible =
                instant.isAfter(EARLIEST) && instant.isBefore(Instant.now().plus(MOST_AHEAD));
        return plausible ? Optional.of(instant) : Optional.empty();
    }

    /** Whether a grant owns a token. */
    static boolean owns(Party holder, long token) {
        Optional<TokenBlock> block = holder.tokens();
        return block.isPresent()
                && block.get().first() <= token
                && token <= block.get().last();
    }
}
