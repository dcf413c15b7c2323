package dev.holdfast.servers.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Represents the resources that the locks of a test protect, in a process that no fault reaches. Threads of other
 * processes report by a socket when they enter and leave one; it refuses a token below one that it has seen. It knows
 * nothing of locks.
 */
public final class Witness implements AutoCloseable {

    private static final int BACKLOG = 2_000;

    /** A visit to a resource, between two steps of the witness's own count. */
    private static final class Visit {
        private final long token;
        private final long enteredAt;
        private final boolean isAccepted;
        private long leftAt;

        /** Whether the hold was still valid after the visitor had left, as the visitor says. */
        private boolean wasHeld;

        Visit(long token, long enteredAt, boolean isAccepted) {
            this.token = token;
            this.enteredAt = enteredAt;
            this.isAccepted = isAccepted;
        }
    }

    /** What one lock protects. */
    private static final class Protected {
        private final List<Visit> visits = new ArrayList<>();
        private final Set<Long> tokens = new HashSet<>();
        private long newestToken;
        private long longestWaitNanos;
    }

    /** A thread that enters one resource again and again. */
    private static final class Visitor {
        private final String name;
        private final String pid;
        private long entries;
        private long waitsSince = System.nanoTime();

        Visitor(String name, String pid) {
            this.name = name;
            this.pid = pid;
        }
    }

    /** The visitors at one moment, until each of them has entered again. */
    public final class Turns {
        private final Map<Visitor, Long> entriesBefore = new HashMap<>();

        private Turns() {}

        /** The visitors that have not entered since and still run, by name and process. */
        public List<String> missing() {
            synchronized (Witness.this) {
                return entriesBefore.entrySet().stream()
                        .filter(each -> visitors.contains(each.getKey()) && each.getKey().entries == each.getValue())
                        .map(each -> each.getKey().name + " of process " + each.getKey().pid)
                        .sorted()
                        .toList();
            }
        }

        /** The missing visitors, counted by name and process. */
        @Override
        public String toString() {
            return missing().stream()
                    .collect(Collectors.groupingBy(each -> each, TreeMap::new, Collectors.counting()))
                    .toString();
        }
    }

    private final ServerSocket listener;
    private final Map<Long, Runnable> entryActions = new ConcurrentHashMap<>();

    // All guarded by this.
    private final Map<String, Protected> resources = new TreeMap<>();
    private final Set<Visitor> visitors = new HashSet<>();
    private final List<String> mistakes = new ArrayList<>();
    private long steps;
    private long entries;
    private int lateLeavers;

    public Witness() {
        try {
            listener = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread acceptor = new Thread(this::accept, "witness");
        acceptor.setDaemon(true);
        acceptor.start();
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** How often a visitor left after a later one had entered: a write without a token would have done harm. */
    public synchronized int lateLeavers() {
        return lateLeavers;
    }

    /** How often a visitor was accepted. */
    public synchronized long entries() {
        return entries;
    }

    /** Begins to count the turns of the visitors of resources whose names begin with a prefix. */
    public synchronized Turns turns(String prefix) {
        Turns turns = new Turns();
        visitors.stream()
                .filter(visitor -> visitor.name.startsWith(prefix))
                .forEach(visitor -> turns.entriesBefore.put(visitor, visitor.entries));
        return turns;
    }

    /** Runs an action when a process enters next, before it is told whether it is accepted. */
    public CompletableFuture<Void> onEntry(long pid, Runnable action) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        entryActions.put(pid, () -> {
            action.run();
            done.complete(null);
        });
        return done;
    }

    private void runEntryAction(String pid) {
        Runnable action = entryActions.remove(Long.valueOf(pid));
        if (action != null) {
            action.run();
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket visitor = listener.accept();
                Thread thread = new Thread(() -> serve(visitor), "witness-visitor");
                thread.setDaemon(true);
                thread.start();
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket socket) {
        Visitor visitor = null;
        Visit visit = null;
        try (socket;
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
                PrintStream out = new PrintStream(socket.getOutputStream(), true, StandardCharsets.US_ASCII)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (visitor == null) {
                    String[] words = line.split(" ", 2);
                    visitor = connect(words[0], words[1]);
                } else if (line.startsWith("enter ")) {
                    visit = enter(visitor, Long.parseLong(line.substring("enter ".length())));
                    runEntryAction(visitor.pid);
                    out.println(visit.isAccepted ? "welcome" : "refused");
                } else if (visit != null && line.equals("leave")) {
                    leave(visitor, visit);
                    out.println("bye");
                } else if (visit != null) {
                    noteHold(visitor, visit, line);
                }
            }
        } catch (IOException e) {
            // The process was killed, and does nothing more.
        }
        if (visitor != null) {
            disconnect(visitor, visit);
        }
    }

    private synchronized Visitor connect(String name, String pid) {
        Visitor visitor = new Visitor(name, pid);
        visitors.add(visitor);
        return visitor;
    }

    private synchronized void disconnect(Visitor visitor, @Nullable Visit visit) {
        visitors.remove(visitor);
        if (visit != null) {
            leave(visitor, visit);
        }
    }

    private Protected resource(String name) {
        return resources.computeIfAbsent(name, unused -> new Protected());
    }

    private synchronized Visit enter(Visitor visitor, long token) {
        Protected resource = resource(visitor.name);
        boolean isAccepted = token > resource.newestToken;
        resource.newestToken = Math.max(resource.newestToken, token);
        if (!resource.tokens.add(token)) {
            mistakes.add("token " + token + " of '" + visitor.name + "' was granted twice");
        }
        Visit visit = new Visit(token, ++steps, isAccepted);
        resource.visits.add(visit);
        if (isAccepted) {
            entries++;
            visitor.entries++;
            resource.longestWaitNanos = Math.max(resource.longestWaitNanos, System.nanoTime() - visitor.waitsSince);
        }
        return visit;
    }

    private synchronized void leave(Visitor visitor, Visit visit) {
        if (visit.leftAt == 0) {
            visit.leftAt = ++steps;
            lateLeavers += visit.token < resource(visitor.name).newestToken ? 1 : 0;
            visitor.waitsSince = System.nanoTime();
        }
    }

    /** Notes what became of the hold: 'good' if it was valid after the visitor had left, 'lost' otherwise. */
    private synchronized void noteHold(Visitor visitor, Visit visit, String fate) {
        visit.wasHeld = fate.equals("good");
        if (visit.wasHeld && !visit.isAccepted) {
            mistakes.add("token " + visit.token + " of '" + visitor.name + "' was refused, though its hold was good");
        }
    }

    /**
     * Fails if a valid hold had a token that was too small, or if a token was granted twice.
     *
     * @return a summary for people
     */
    public String verifyTokens() {
        return verify(false);
    }

    /**
     * Fails as {@link #verifyTokens()} does, and if two visits overlapped whose holds were valid to their ends.
     *
     * @return a summary for people
     */
    public String verifyExclusion() {
        return verify(true);
    }

    private synchronized String verify(boolean isExclusive) {
        int visits = 0;
        int overlaps = 0;
        long refused = 0;
        Map<String, Integer> validOverlaps = new LinkedHashMap<>();
        for (Map.Entry<String, Protected> each : resources.entrySet()) {
            Visit last = null;
            Visit lastValid = null;
            for (Visit visit : each.getValue().visits) {
                visits++;
                refused += visit.isAccepted ? 0 : 1;
                overlaps += isDuring(visit, last) ? 1 : 0;
                last = later(last, visit);
                if (visit.wasHeld) {
                    if (isDuring(visit, lastValid)) {
                        validOverlaps.merge(each.getKey(), 1, Integer::sum);
                    }
                    lastValid = later(lastValid, visit);
                }
            }
        }
        String waits = resources.entrySet().stream()
                .map(each -> each.getKey() + " " + each.getValue().longestWaitNanos / 1_000_000 + " ms")
                .collect(Collectors.joining(", "));
        String summary = visits + " visits, " + refused + " refused by their token, " + overlaps + " overlapped, "
                + validOverlaps + " of these with valid holds, " + lateLeavers
                + " would have written last with an old token; longest waits: " + waits;
        assertThat(mistakes).as(summary).isEmpty();
        if (isExclusive) {
            assertThat(validOverlaps).as(summary).isEmpty();
        }
        return summary;
    }

    private static boolean isDuring(Visit visit, @Nullable Visit earlier) {
        return earlier != null && visit.enteredAt < earlier.leftAt;
    }

    private static Visit later(@Nullable Visit one, Visit other) {
        return one == null || other.leftAt > one.leftAt ? other : one;
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
