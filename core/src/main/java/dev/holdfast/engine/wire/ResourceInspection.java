package dev.holdfast.engine.wire;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** Inspects one resource at the store. */
public final class ResourceInspection implements CommandSender.Answer {

    private static final int PAGE = 1_000;
    private static final int MOST_CHANGES = 10;

    private final CommandSender sender;
    private final ResourceName name;
    private final CallerMode caller;
    private final int limit;

    /** The time limit for all attempts of a page together; 0 for a single attempt. */
    private final long withinNanos;

    private final CompletableFuture<Optional<ResourceInfo>> answer = new CompletableFuture<>();

    private final AtomicInteger changes = new AtomicInteger();

    // Written by one page and read by the next.
    private volatile List<Party> before = List.of();
    private volatile long tokenBefore;

    private ResourceInspection(
            CommandSender sender, ResourceName name, CallerMode caller, int limit, long withinNanos) {
        this.sender = sender;
        this.name = name;
        this.caller = caller;
        this.limit = limit;
        this.withinNanos = withinNanos;
    }

    /**
     * Completes with the record, with only the first of the holders; empty if the resource is not in use. Or fails with
     * a {@link StoreException}.
     */
    public static CompletableFuture<Optional<ResourceInfo>> ask(
            CommandSender sender, ResourceName name, CallerMode caller) {
        return new ResourceInspection(sender, name, caller, 1, 0).begin();
    }

    /** As {@link #ask}, with retries while the store is unavailable. */
    public static CompletableFuture<Optional<ResourceInfo>> askWithin(
            CommandSender sender, ResourceName name, CallerMode caller, Duration within) {
        return new ResourceInspection(sender, name, caller, 1, within.toNanos()).begin();
    }

    /**
     * Completes with the record at one moment, with all holders; empty if the resource is not in use. Or fails with a
     * {@link StoreException}, also if several pages of holders keep changing.
     */
    public static CompletableFuture<Optional<ResourceInfo>> askForAll(
            CommandSender sender, ResourceName name, CallerMode caller) {
        return new ResourceInspection(sender, name, caller, PAGE, 0).begin();
    }

    private CompletableFuture<Optional<ResourceInfo>> begin() {
        page(Optional.empty());
        return answer;
    }

    private void page(Optional<String> cursor) {
        Command inspect = new Command.Inspect(name.value(), cursor, limit, Command.Inspect.Scope.NAME);
        if (withinNanos == 0) {
            sender.send(inspect, caller, this);
        } else {
            sender.sendWithin(inspect, caller, withinNanos, this);
        }
    }

    @Override
    public void reply(Reply reply, long sentAt) {
        if (!(reply instanceof Reply.Inspected inspected)) {
            failure(ProtocolViolation.reply(reply), sentAt);
            return;
        }
        Optional<ResourceInfo> found = inspected.resources().stream()
                .filter(info -> info.name().equals(name))
                .findFirst();
        if (found.isEmpty()
                || limit == 1
                || (before.isEmpty() && inspected.cursor().isEmpty())) {
            answer.complete(found);
        } else {
            add(found.get(), inspected.cursor());
        }
    }

    /** Reads the next page while all pages show the same state. */
    private void add(ResourceInfo info, Optional<String> cursor) {
        boolean isSame = before.isEmpty() || info.lastToken() == tokenBefore;
        List<Party> holders = new ArrayList<>(before);
        holders.addAll(info.holders());
        if (isSame && cursor.isPresent()) {
            before = holders;
            tokenBefore = info.lastToken();
            page(cursor);
        } else if (isSame && info.holding() == holders.size()) {
            answer.complete(Optional.of(info.withHolders(holders)));
        } else if (changes.incrementAndGet() <= MOST_CHANGES) {
            before = List.of();
            page(Optional.empty());
        } else {
            answer.completeExceptionally(new StoreException(
                    StoreException.Reason.UNAVAILABLE,
                    StoreException.Effect.NONE,
                    "the holders of '" + name.value() + "' kept changing while they were read",
                    null));
        }
    }

    @Override
    public void failure(StoreException failure, long sentAt) {
        answer.completeExceptionally(failure);
    }
}
