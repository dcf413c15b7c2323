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
 * Actuator endpoint that shows who holds and who waits at the lock stores of the application's clients, in this process
 * or another, and takes a lock away by force. Names are those of annotations: the client's prefix stands before them at
 * the store, and what has another prefix is not shown. Access is read-only unless it is set to unrestricted, so that
 * nothing can be taken away.
 *
 * <p>Bad input, such as a limit out of range or a client that does not exist, is answered with the status 400.
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
     * @param prefix what their names begin with; all if null
     * @param cursor where the page before ended; the first page if null. With several clients, {@code client} is needed
     * @param limit the most names of a page; 100 if null
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
     * What the store records of one name, or null if nothing.
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
     * Ends the hold that has a token, whoever has it: a last resort, since its code runs on.
     *
     * @param client the name of the client; may be null if there is only one
     * @param token as {@link Holder#token()} tells it
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
                    "There are " + names.size() + " clients, " + names + "; name one with the parameter 'client'");
        }
        return names.get(0);
    }

    private String existing(String client) {
        if (!clients.names().contains(client)) {
            throw badInput("There is no client '" + client + "'; there are " + clients.names());
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
     * @param locks those in use; may be none of a page that is not the last
     * @param nextCursor what the next page is asked for by; null after the last
     */
    public record Locks(List<Lock> locks, @Nullable String nextCursor) {}

    /**
     * What the store records of a name.
     *
     * @param name the lock, semaphore, latch or election
     * @param kind what it is
     * @param capacity how much there is of it at present
     * @param holders who holds it, oldest first
     * @param holding how many hold it in all
     * @param waiters who waits, first in line first
     * @param waiting how many wait in all
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
     * One who holds a lock.
     *
     * @param label who it is
     * @param weight how much it holds
     * @param token its fencing token, by which it can be released
     * @param heldSince about when it was granted; null where the store can't know
     * @param leaseLeft how long it holds without renewal
     */
    public record Holder(
            String label, int weight, long token, @Nullable Instant heldSince, Duration leaseLeft) {

        private static Holder of(LockInfo.Holder holder) {
            return new Holder(holder.label(), holder.weight(), holder.token(), holder.heldSince(), holder.leaseLeft());
        }
    }

    /**
     * One who waits for a lock.
     *
     * @param label who it is
     * @param weight how much it asks for
     */
    public record Waiter(String label, int weight) {

        private static Waiter of(LockInfo.Waiter waiter) {
            return new Waiter(waiter.label(), waiter.weight());
        }
    }

    /**
     * What became of a release.
     *
     * @param released whether the hold was there, and was ended by it
     */
    public record Release(boolean released) {}
}
