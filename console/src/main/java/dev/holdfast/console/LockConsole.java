package dev.holdfast.console;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.HoldfastException;
import dev.holdfast.admin.LockAdmin;
import dev.holdfast.admin.LockInfo;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What the console's page shows: who holds which lock of a store, since when, who waits behind whom, and what needs
 * attention. It answers the requests of pages and is independent of the server that they arrive at.
 *
 * <p>While there are viewers, the store is polled twice a second for all of them together, and otherwise not at all.
 * The memory of holds that have ended begins with the first viewer and ends with this object.
 *
 * <p><b>Access:</b> callers of {@link #get} see names, labels and tokens; callers of {@link #release} can
 * end any hold, unless the console is read-only. The caller authenticates and authorises.
 *
 * <p><b>Blocking:</b> {@link #get} waits up to two seconds for the first poll, {@link #release} for the store, {@link
 * #awaitChange} as stated. <b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class LockConsole implements AutoCloseable {

    private static final Duration FIRST_POLL = Duration.ofSeconds(2);
    private static final int MAX_CACHED = 200;
    private static final int MAX_NAME_BYTES = 512;

    private final Supplier<Optional<LockAdmin>> store;
    private final String kind;
    private final String place;
    private final String prefix;
    private final String version;
    private final boolean streaming;
    private final BooleanSupplier readOnly;
    private final Consumer<String> audit;
    private final Clock clock;
    private final SeenStore seen = new SeenStore();
    private final StorePoller poller;

    /** Answers about the newest state, shared by viewers of the same view. */
    @GuardedBy("cache")
    private final Map<String, ConsoleAnswer> cache = new HashMap<>();

    @GuardedBy("cache")
    private long cachedSequence = -1;

    private LockConsole(Builder builder) {
        store = builder.store;
        kind = builder.kind;
        place = builder.place;
        prefix = builder.prefix;
        version = builder.version;
        streaming = builder.streaming;
        readOnly = builder.readOnly;
        audit = builder.audit;
        clock = builder.clock;
        seen.tasks().name(builder.tasks);
        poller = new StorePoller(store, prefix, seen, clock);
    }

    /**
     * A builder of consoles.
     *
     * @param store returns the store to show, for each request of it; empty while there is none yet
     */
    public static Builder builder(Supplier<Optional<LockAdmin>> store) {
        return new Builder(store);
    }

    /** Settings of a {@link LockConsole}. Not thread-safe. */
    public static final class Builder {
        private final Supplier<Optional<LockAdmin>> store;
        private String kind = "";
        private String place = "";
        private String prefix = "";
        private String version = "";
        private boolean streaming;
        private Set<String> tasks = Set.of();
        private BooleanSupplier readOnly = () -> false;
        private Consumer<String> audit = line -> {};
        private Clock clock = Clock.systemUTC();

        private Builder(Supplier<Optional<LockAdmin>> store) {
            this.store = store;
        }

        /** What kind of store it is and where, for people; without user names or other credentials. */
        @CanIgnoreReturnValue
        public Builder store(String product, String address) {
            kind = product;
            place = address;
            return this;
        }

        /** Shows only names with this prefix, and shows them without it. */
        @CanIgnoreReturnValue
        public Builder prefix(String common) {
            prefix = common;
            return this;
        }

        /** The version of the page; a page of another version asks to be reloaded. */
        @CanIgnoreReturnValue
        public Builder version(String text) {
            version = text;
            return this;
        }

        /** The server answers {@code api/events} too, so pages need not poll it. */
        @CanIgnoreReturnValue
        public Builder streaming() {
            streaming = true;
            return this;
        }

        /** Names of scheduled tasks to show although the console has not seen their locks, if they have run. */
        @CanIgnoreReturnValue
        public Builder tasks(Set<String> names) {
            tasks = Set.copyOf(names);
            return this;
        }

        /** Refuses forced releases while this is true. */
        @CanIgnoreReturnValue
        public Builder readOnly(BooleanSupplier condition) {
            readOnly = condition;
            return this;
        }

        /** Receives a line about each forced release. Names and labels in it are unchecked text. */
        @CanIgnoreReturnValue
        public Builder audit(Consumer<String> lines) {
            audit = lines;
            return this;
        }

        @CanIgnoreReturnValue
        Builder clock(Clock source) {
            clock = source;
            return this;
        }

        /** Creates the console, without a request to the store. */
        public LockConsole build() {
            return new LockConsole(this);
        }
    }

    /**
     * Answers a request of the page.
     *
     * @param path what follows the base path: {@code api/overview}, {@code api/locks}, {@code api/lock}, {@code
     *     api/blocking}, {@code api/sessions}, or {@code api/state} for the overview with the view that the parameter
     *     {@code view} names
     * @param parameters the parameters of the request, decoded
     */
    public ConsoleAnswer get(String path, Map<String, String> parameters) {
        return get(path, parameters, FIRST_POLL);
    }

    /** The present {@code api/state}, without a wait for the first poll. */
    ConsoleAnswer presentState(Map<String, String> parameters) {
        return get("api/state", parameters, Duration.ZERO);
    }

    private ConsoleAnswer get(String path, Map<String, String> parameters, Duration firstPoll) {
        ViewQuery query;
        try {
            query = new ViewQuery(parameters);
            String name = query.text("name", "");
            long before = name.isEmpty() ? poller.view() : poller.view(checkedName(name));
            seen.awaitFirst(before, firstPoll);
            return cached(path, query, name);
        } catch (IllegalArgumentException e) {
            return badRequest(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ConsoleAnswer.problem(503, "interrupted", "Interrupted", "The console is being stopped.");
        }
    }

    private static ConsoleAnswer badRequest(IllegalArgumentException e) {
        return ConsoleAnswer.problem(400, "bad-request", "Bad request", String.valueOf(e.getMessage()));
    }

    private String checkedName(String name) {
        int bytes = (prefix + name).getBytes(StandardCharsets.UTF_8).length;
        if (name.isBlank() || bytes > MAX_NAME_BYTES) {
            throw new IllegalArgumentException(
                    "A name has 1 to " + MAX_NAME_BYTES + " bytes and is not blank; this one has " + bytes);
        }
        return name;
    }

    private ConsoleAnswer cached(String path, ViewQuery query, String name) {
        String key = path + query;
        long sequence = seen.sequence();
        synchronized (cache) {
            if (cachedSequence != sequence) {
                cache.clear();
                cachedSequence = sequence;
            }
            ConsoleAnswer known = cache.get(key);
            if (known != null) {
                return known;
            }
        }
        ConsoleAnswer answer = seen.read(() -> answer(path, query, name));
        synchronized (cache) {
            if (cachedSequence == sequence && cache.size() < MAX_CACHED) {
                cache.put(key, answer);
            }
        }
        return answer;
    }

    private ConsoleAnswer answer(String path, ViewQuery query, String name) {
        Views views = new Views(seen, clock.instant());
        if (path.equals("api/state")) {
            JsonObject state = new JsonObject().put("overview", overview(views));
            return ConsoleAnswer.json(state.put("view", view(views, query.text("view", "locks"), query, name)));
        } else if (path.equals("api/overview")) {
            return ConsoleAnswer.json(overview(views));
        }
        Optional<JsonObject> view =
                path.startsWith("api/") ? view(views, path.substring("api/".length()), query, name) : Optional.empty();
        return view.map(ConsoleAnswer::json)
                .orElseGet(() -> path.equals("api/lock")
                        ? ConsoleAnswer.problem(404, "unknown-name", "Unknown name", "The store has no record of it.")
                        : ConsoleAnswer.problem(404, "not-found", "Not found", "There is no such view."));
    }

    private Optional<JsonObject> view(Views views, String view, ViewQuery query, String name) {
        return switch (view) {
            case "locks" -> Optional.of(views.locks(query));
            case "lock" -> Optional.ofNullable(views.lock(name));
            case "blocking" -> Optional.of(views.blocking(query));
            case "sessions" -> Optional.of(views.sessions(query));
            case "tasks" -> Optional.of(views.tasks(query));
            default -> Optional.empty();
        };
    }

    private JsonObject overview(Views views) {
        Instant away = seen.awaySince();
        return views.overview()
                .put("version", version)
                .put("events", streaming)
                .put("readOnly", readOnly.getAsBoolean())
                .put("now", clock.instant())
                .put(
                        "store",
                        new JsonObject()
                                .put("kind", kind)
                                .put("place", place)
                                .put("state", away != null ? "away" : seen.startedAt() == null ? "connecting" : "up")
                                .put("answered", seen.startedAt() != null)
                                .put("since", away)
                                .put("problem", away == null ? null : seen.problem())
                                .put("nextTryMillis", away == null ? null : seen.nextTry())
                                .put("roundTripMicros", seen.roundTripMicros()));
    }

    /**
     * Ends a hold by force.
     *
     * @param who who asks, for the audit
     * @param fields {@code name} and {@code token}, of the hold that the page has shown
     */
    public ConsoleAnswer release(String who, Map<String, String> fields) {
        if (readOnly.getAsBoolean()) {
            return ConsoleAnswer.problem(403, "read-only", "Read-only", "This console can't release locks.");
        }
        try {
            return release(who, checkedName(fields.getOrDefault("name", "")), token(fields.getOrDefault("token", "")));
        } catch (IllegalArgumentException e) {
            return badRequest(e);
        }
    }

    private static long token(String text) {
        try {
            long token = Long.parseLong(text);
            if (token > 0) {
                return token;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw new IllegalArgumentException("A token is a positive number, as a string");
    }

    private ConsoleAnswer release(String who, String name, long token) {
        String line = "forced release of " + name + ", token " + token + ", by " + who + ": ";
        Optional<LockAdmin> opened;
        try {
            opened = store.get();
        } catch (RuntimeException e) {
            audit.accept(line + "not sent, " + e.getMessage());
            return ConsoleAnswer.problem(
                    503, "store-closed", "Nothing was changed", "The store could not be opened: " + e.getMessage());
        }
        return opened.map(admin -> release(admin, name, token, line)).orElseGet(() -> ended(Optional.empty()));
    }

    private ConsoleAnswer release(LockAdmin admin, String name, long token, String line) {
        try {
            seen.force(name, token);
            boolean released = admin.forceRelease(prefix + name, token);
            audit.accept(line + (released ? "released" : "the hold had ended"));
            Optional<LockInfo> present = presentState(admin, name);
            poller.view(name);
            if (!released) {
                seen.force(name, 0);
                return ended(present);
            }
            return ConsoleAnswer.json(
                    new JsonObject().put("released", true).put("next", present.flatMap(LockConsole::firstHolder)));
        } catch (HoldfastException e) {
            seen.force(name, 0);
            audit.accept(line + "outcome unknown, " + e.getMessage());
            return ConsoleAnswer.problem(
                    503, "store-away", "Outcome unknown", "The store did not answer: " + e.getMessage());
        }
    }

    /** The state after a release, for people; empty if the store doesn't answer this question any more. */
    private Optional<LockInfo> presentState(LockAdmin admin, String name) {
        try {
            Optional<LockInfo> present = poller.inspect(admin, name);
            seen.readApart(name, present.orElse(null), clock.instant());
            return present;
        } catch (HoldfastException e) {
            return Optional.empty();
        }
    }

    private static Optional<JsonObject> firstHolder(LockInfo info) {
        return info.holders().stream()
                .findFirst()
                .map(holder ->
                        new JsonObject().put("label", holder.label()).put("token", Long.toString(holder.token())));
    }

    private static ConsoleAnswer ended(Optional<LockInfo> present) {
        ConsoleAnswer problem =
                ConsoleAnswer.problem(409, "hold-ended", "Nothing was changed", "The hold had already ended.");
        return present.flatMap(LockConsole::firstHolder)
                .map(holder -> new ConsoleAnswer(
                        409,
                        ConsoleAnswer.PROBLEM,
                        new JsonObject()
                                .put("type", "hold-ended")
                                .put("title", "Nothing was changed")
                                .put("status", 409)
                                .put("detail", "The hold had already ended.")
                                .put("holder", holder)
                                .toString()
                                .getBytes(StandardCharsets.UTF_8)))
                .orElse(problem);
    }

    /**
     * The state of the store with a page of locks, for a terminal.
     *
     * @param parameters those of {@code api/locks}
     * @throws IllegalArgumentException if a parameter is out of range
     */
    public StoreSummary summary(Map<String, String> parameters) throws InterruptedException {
        LockTable.Request request = LockTable.Request.of(new ViewQuery(parameters));
        seen.awaitFirst(poller.view(), FIRST_POLL);
        return seen.read(() -> new Views(seen, clock.instant()).summary(request));
    }

    /**
     * Waits for news, as a viewer: keeps the polls going.
     *
     * @param after the number of the newest state that the caller has; 0 for none
     * @return the number of the newest state; not greater if there was none in time
     */
    public long awaitChange(long after, Duration atMost) throws InterruptedException {
        poller.view();
        return seen.awaitChange(after, atMost);
    }

    /** Whether the store is polled at present. */
    boolean isPolling() {
        return poller.isPolling();
    }

    /** Stops polling. The store is left open. */
    @Override
    public void close() {
        poller.close();
    }
}
