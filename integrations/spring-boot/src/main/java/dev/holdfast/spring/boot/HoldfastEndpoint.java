package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.LockPage;
import dev.holdfast.admin.LockQuery;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * Actuator endpoint that shows holders and waiters at the lock stores of the application's clients, in any process, and
 * releases locks by force. Names are those of annotations, without the client's prefix; other prefixes are not shown.
 * Access is read-only, without forced releases, unless it is set to unrestricted.
 *
 * <p>Invalid input, such as a limit out of range or an unknown client, gets the status 400.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
@Endpoint(id = "holdfast", defaultAccess = Access.READ_ONLY)
// Only the actuator uses what the annotations name.
@SuppressWarnings("exports")
public final class HoldfastEndpoint {

    private static final int LIMIT = 100;

    private final HoldfastClients clients;

    HoldfastEndpoint(HoldfastClients clients) {
        this.clients = clients;
    }

    /**
     * A page of the locks in use, for each client.
     *
     * @param client the name of the only client to show; all if null
     * @param prefix the beginning of their names; all if null
     * @param cursor the end of the previous page; the first page if null. With several clients, it needs {@code client}
     * @param limit the maximum of names in a page; 100 if null
     */
    @ReadOperation
    public Clients locks(
            @Nullable String client, @Nullable String prefix, @Nullable String cursor, @Nullable Integer limit) {
        List<String> names = client == null && cursor == null ? clients.names() : List.of(only(client));
        LockQuery query = checked(() -> new LockQuery(
                prefix == null ? "" : prefix, Optional.ofNullable(cursor), limit == null ? LIMIT : limit));
        Map<String, Locks> pages = new LinkedHashMap<>();
        names.forEach(name -> pages.put(name, page(clients.get(name), query)));
        return new Clients(pages);
    }

    private static Locks page(Holdfast client, LockQuery query) {
        String own = client.namePrefix();
        LockPage page =
                checked(() -> client.inspect(new LockQuery(own + query.prefix(), query.cursor(), query.limit())));
        return new Locks(
                page.locks().stream()
                        .filter(LockInfo::isInUse)
                        .map(lock -> Lock.of(lock, own))
                        .toList(),
                page.next().flatMap(LockQuery::cursor).orElse(null));
    }

    /**
     * The store's record of a name, or null if there is none.
     *
     * @param client the name of the client; may be null if there is only one
     * @param name as in annotations; a name with slashes is several segments of a path
     */
    @ReadOperation
    public @Nullable Lock lock(
            @Nullable String client, @Selector(match = Selector.Match.ALL_REMAINING) String... name) {
        Holdfast holdfast = clients.get(only(client));
        String own = holdfast.namePrefix();
        return checked(() -> holdfast.inspect(own + String.join("/", name)))
                .map(lock -> Lock.of(lock, own))
                .orElse(null);
    }

    /**
     * Ends the hold with a token, in any process: a last resort, since the holder's code runs on.
     *
     * @param client the name of the client; may be null if there is only one
     * @param token the token from {@link Holder#token()}
     * @param name as in annotations; a name with slashes is several segments of a path
     */
    @DeleteOperation
    public Release release(
            @Nullable String client, long token, @Selector(match = Selector.Match.ALL_REMAINING) String... name) {
        Holdfast holdfast = clients.get(only(client));
        return new Release(checked(() -> holdfast.forceRelease(holdfast.namePrefix() + String.join("/", name), token)));
    }

    private String only(@Nullable String client) {
        if (client != null) {
            return existing(client);
        }
        List<String> names = clients.names();
        if (names.size() != 1) {
            throw badInput(
                    "There are " + names.size() + " clients, " + names + "; select one with the parameter 'client'");
        }
        return names.get(0);
    }

    private String existing(String client) {
        if (!clients.names().contains(client)) {
            throw badInput("There is no client '" + client + "'; the clients are " + clients.names());
        }
        return client;
    }

    private static <T> T checked(Supplier<T> operation) {
        try {
            return operation.get();
        } catch (IllegalArgumentException e) {
            throw badInput(String.valueOf(e.getMessage()));
        }
    }

    private static InvalidEndpointRequestException badInput(String problem) {
        return new InvalidEndpointRequestException(problem, problem);
    }

    /**
     * The locks of the application's clients.
     *
     * @param clients a page for each, by the names of their beans
     */
    public record Clients(Map<String, Locks> clients) {}

    /**
     * A page of locks.
     *
     * @param locks the locks in use; may be empty even if this is not the last page
     * @param nextCursor the cursor for the next page; null after the last
     */
    public record Locks(List<Lock> locks, @Nullable String nextCursor) {}

    /**
     * The store's record of a name.
     *
     * @param name the lock, semaphore, latch or election
     * @param kind its kind
     * @param capacity its present capacity
     * @param holders the holders, oldest first
     * @param holding the number of all holders
     * @param waiters the waiters, in the order of the queue
     * @param waiting the number of all waiters
     */
    public record Lock(
            String name,
            String kind,
            int capacity,
            List<Holder> holders,
            long holding,
            List<Waiter> waiters,
            long waiting) {

        private static Lock of(LockInfo info, String prefix) {
            return new Lock(
                    info.name().substring(prefix.length()),
                    info.kind().name(),
                    info.capacity(),
                    info.holders().stream().map(Holder::of).toList(),
                    info.holding(),
                    info.waiters().stream().map(Waiter::of).toList(),
                    info.waiting());
        }
    }

    /**
     * A holder of a lock.
     *
     * @param label the label of its client
     * @param weight the weight of its claim
     * @param token its fencing token, by which it can be released
     * @param heldSince the approximate time of the grant; null if the store doesn't know it
     * @param leaseLeft the rest of the lease, without a renewal
     * @param message what the holder says that it is for; null if nothing
     */
    public record Holder(
            String label,
            int weight,
            long token,
            @Nullable Instant heldSince,
            Duration leaseLeft,
            @Nullable String message) {

        private static Holder of(LockInfo.Holder holder) {
            return new Holder(
                    holder.label(),
                    holder.weight(),
                    holder.token(),
                    holder.heldSince(),
                    holder.leaseLeft(),
                    holder.message().isEmpty() ? null : holder.message());
        }
    }

    /**
     * A waiter for a lock.
     *
     * @param label the label of its client
     * @param weight the weight of its claim
     * @param waited how long it has been in the queue; null if the store doesn't know it
     */
    public record Waiter(String label, int weight, @Nullable Duration waited) {

        private static Waiter of(LockInfo.Waiter waiter) {
            return new Waiter(waiter.label(), waiter.weight(), waiter.waitedFor());
        }
    }

    /**
     * The result of a forced release.
     *
     * @param released whether the hold existed, and this release ended it
     */
    public record Release(boolean released) {}
}
