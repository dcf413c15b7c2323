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
 * What the locks of a test protect, by name, in a process that none of the faults reach: it is told who comes and goes,
 * and refuses whoever has a smaller token than somebody before. It knows nothing of locks.
 */
public final class Resource implements AutoCloseable {

    private static final int BACKLOG = 2_000;

    /**
     * A stay: from when to when, by the order in which things were heard here; and whether the hold was good to the
     * end, as who had it says.
     */
    private static final class Stay {
        private final long token;
        private final long came;
        private final boolean isAccepted;
        private long went;
        private boolean isGood;

        Stay(long token, long came, boolean isAccepted) {
            this.token = token;
            this.came = came;
            this.isAccepted = isAccepted;
        }
    }

    /** What one lock protects. */
    private static final class Guarded {
        private final List<Stay> stays = new ArrayList<>();
        private final Set<Long> tokens = new HashSet<>();
        private long newest;
        private long longestNanos;
    }

    /** A thread that comes again and again. */
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

    /** Those who came and went at a time, until each of them was let in again. */
    public final class Round {
        private final Map<Visitor, Long> before = new HashMap<>();

        private Round() {}

        /** Who was not let in since, and has not gone for good, by name and process. */
        public List<String> missing() {
            synchronized (Resource.this) {
                return before.entrySet().stream()
                        .filter(each -> visitors.contains(each.getKey()) && each.getKey().entries == each.getValue())
                        .map(each -> each.getKey().name + " of process " + each.getKey().pid)
                        .sorted()
                        .toList();
            }
        }

        @Override
        public String toString() {
            return String.join(", ", missing());
        }
    }

    private final ServerSocket listener;
    private final Map<Long, Runnable> traps = new ConcurrentHashMap<>();

    // All guarded by this.
    private final Map<String, Guarded> all = new TreeMap<>();
    private final Set<Visitor> visitors = new HashSet<>();
    private final List<String> mistakes = new ArrayList<>();
    private long steps;
    private long entries;
    private int late;

    public Resource() {
        try {
            listener = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread acceptor = new Thread(this::accept, "resource");
        acceptor.setDaemon(true);
        acceptor.start();
    }

    public int port() {
        return listener.getLocalPort();
    }

    /**
     * How often somebody was still in when a later one came, and could have done harm if nobody looked at the token.
     */
    public synchronized int late() {
        return late;
    }

    /** How often somebody was let in. */
    public synchronized long entries() {
        return entries;
    }

    /** A round of those who come for names that begin so. */
    public synchronized Round round(String prefix) {
        Round round = new Round();
        visitors.stream()
                .filter(visitor -> visitor.name.startsWith(prefix))
                .forEach(visitor -> round.before.put(visitor, visitor.entries));
        return round;
    }

    /** Does something to a process when it comes in next: it has not heard yet that it is welcome. */
    public CompletableFuture<Void> whenIn(long pid, Runnable what) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        traps.put(pid, () -> {
            what.run();
            done.complete(null);
        });
        return done;
    }

    private void meet(String pid) {
        Runnable trap = traps.remove(Long.valueOf(pid));
        if (trap != null) {
            trap.run();
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket visitor = listener.accept();
                Thread thread = new Thread(() -> serve(visitor), "resource-visitor");
                thread.setDaemon(true);
                thread.start();
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket socket) {
        Visitor visitor = null;
        Stay stay = null;
        try (socket;
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
                PrintStream out = new PrintStream(socket.getOutputStream(), true, StandardCharsets.US_ASCII)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (visitor == null) {
                    String[] words = line.split(" ", 2);
                    visitor = appear(words[0], words[1]);
                } else if (line.startsWith("enter ")) {
                    stay = enter(visitor, Long.parseLong(line.substring("enter ".length())));
                    meet(visitor.pid);
                    out.println(stay.isAccepted ? "welcome" : "refused");
                } else if (stay != null && line.equals("leave")) {
                    leave(visitor, stay);
                    out.println("bye");
                } else if (stay != null) {
                    tell(visitor, stay, line);
                }
            }
        } catch (IOException e) {
            // It was killed, and can do nothing any more.
        }
        if (visitor != null) {
            disappear(visitor, stay);
        }
    }

    private synchronized Visitor appear(String name, String pid) {
        Visitor visitor = new Visitor(name, pid);
        visitors.add(visitor);
        return visitor;
    }

    private synchronized void disappear(Visitor visitor, @Nullable Stay stay) {
        visitors.remove(visitor);
        if (stay != null) {
            leave(visitor, stay);
        }
    }

    private Guarded guarded(String name) {
        return all.computeIfAbsent(name, unused -> new Guarded());
    }

    private synchronized Stay enter(Visitor visitor, long token) {
        Guarded guarded = guarded(visitor.name);
        boolean isAccepted = token > guarded.newest;
        guarded.newest = Math.max(guarded.newest, token);
        if (!guarded.tokens.add(token)) {
            mistakes.add("token " + token + " of '" + visitor.name + "' was granted twice");
        }
        Stay stay = new Stay(token, ++steps, isAccepted);
        guarded.stays.add(stay);
        if (isAccepted) {
            entries++;
            visitor.entries++;
            guarded.longestNanos = Math.max(guarded.longestNanos, System.nanoTime() - visitor.waitsSince);
        }
        return stay;
    }

    private synchronized void leave(Visitor visitor, Stay stay) {
        if (stay.went == 0) {
            stay.went = ++steps;
            late += stay.token < guarded(visitor.name).newest ? 1 : 0;
            visitor.waitsSince = System.nanoTime();
        }
    }

    /** What became of the hold: 'good' if it was held after the visitor had left, else 'lost'. */
    private synchronized void tell(Visitor visitor, Stay stay, String how) {
        stay.isGood = how.equals("good");
        if (stay.isGood && !stay.isAccepted) {
            mistakes.add("token " + stay.token + " of '" + visitor.name + "' was refused, though its hold was good");
        }
    }

    /**
     * Fails if two stays met whose holds were good all the time, if a good hold had too small a token, or if a token
     * was granted twice.
     *
     * @param isExclusive whether the store promises the first of these
     * @return what happened, for people
     */
    public synchronized String judge(boolean isExclusive) {
        int stays = 0;
        int met = 0;
        Map<String, Integer> goodMet = new LinkedHashMap<>();
        long refused = 0;
        for (Map.Entry<String, Guarded> each : all.entrySet()) {
            Stay last = null;
            Stay lastGood = null;
            for (Stay stay : each.getValue().stays) {
                stays++;
                refused += stay.isAccepted ? 0 : 1;
                met += last != null && stay.came < last.went ? 1 : 0;
                last = last == null || stay.went > last.went ? stay : last;
                if (stay.isGood) {
                    if (lastGood != null && stay.came < lastGood.went) {
                        goodMet.merge(each.getKey(), 1, Integer::sum);
                    }
                    lastGood = lastGood == null || stay.went > lastGood.went ? stay : lastGood;
                }
            }
        }
        String waits = all.entrySet().stream()
                .map(each -> each.getKey() + " " + each.getValue().longestNanos / 1_000_000 + " ms")
                .collect(Collectors.joining(", "));
        String summary = stays + " stays, " + refused + " refused by their token, " + met + " met another one, "
                + goodMet + " of these with good holds, " + late + " would have written last with an old token;"
                + " longest waits: " + waits;
        assertThat(mistakes).as(summary).isEmpty();
        if (isExclusive) {
            assertThat(goodMet).as(summary).isEmpty();
        }
        return summary;
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
