package dev.holdfast.store.redis;

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
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the locks of a test protect, in a process that none of the faults reach: it is told who comes and goes, and
 * refuses whoever has a smaller token than somebody before. It knows nothing of locks.
 */
final class Resource implements AutoCloseable {

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

    private final ServerSocket listener;
    private final Map<Long, Runnable> traps = new ConcurrentHashMap<>();

    // All guarded by this.
    private final List<Stay> stays = new ArrayList<>();
    private final List<String> mistakes = new ArrayList<>();
    private long steps;
    private long newest;
    private int late;

    Resource() {
        try {
            listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread acceptor = new Thread(this::accept, "resource");
        acceptor.setDaemon(true);
        acceptor.start();
    }

    int port() {
        return listener.getLocalPort();
    }

    /**
     * How often somebody was still in when a later one came, and could have done harm if nobody looked at the token.
     */
    synchronized int late() {
        return late;
    }

    /** How often somebody was let in. */
    synchronized long entries() {
        return stays.stream().filter(stay -> stay.isAccepted).count();
    }

    /** Does something to a process when it comes in next: it has not heard yet that it is welcome. */
    CompletableFuture<Void> whenIn(long pid, Runnable what) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        traps.put(pid, () -> {
            what.run();
            done.complete(null);
        });
        return done;
    }

    private void meet(long pid) {
        Runnable trap = traps.remove(pid);
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

    private void serve(Socket visitor) {
        Stay stay = null;
        try (visitor;
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(visitor.getInputStream(), StandardCharsets.US_ASCII));
                PrintStream out = new PrintStream(visitor.getOutputStream(), true, StandardCharsets.US_ASCII)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith("enter ")) {
                    String[] words = line.split(" ", 3);
                    stay = enter(Long.parseLong(words[1]));
                    meet(Long.parseLong(words[2]));
                    out.println(stay.isAccepted ? "welcome" : "refused");
                } else if (stay != null && line.equals("leave")) {
                    leave(stay);
                    out.println("bye");
                } else if (stay != null) {
                    tell(stay, line);
                }
            }
        } catch (IOException e) {
            // It was killed, and can do nothing any more.
        }
        if (stay != null) {
            leave(stay);
        }
    }

    private synchronized Stay enter(long token) {
        boolean isAccepted = token > newest;
        newest = Math.max(newest, token);
        Stay stay = new Stay(token, ++steps, isAccepted);
        stays.add(stay);
        return stay;
    }

    private synchronized void leave(Stay stay) {
        if (stay.went == 0) {
            stay.went = ++steps;
            late += stay.token < newest ? 1 : 0;
        }
    }

    /** What became of the hold: 'good' if it was held after the visitor had left, else 'lost'. */
    private synchronized void tell(Stay stay, String how) {
        stay.isGood = how.equals("good");
        if (stay.isGood && !stay.isAccepted) {
            mistakes.add("token " + stay.token + " was refused, though its hold was good");
        }
    }

    /**
     * Fails if two stays met whose holds were good all the time, or a good hold had too small a token.
     *
     * @param isExclusive whether the store promises the first of these
     * @return what happened, for people
     */
    synchronized String judge(boolean isExclusive) {
        int met = 0;
        int goodMet = 0;
        Stay last = null;
        Stay lastGood = null;
        for (Stay stay : stays) {
            met += last != null && stay.came < last.went ? 1 : 0;
            last = last == null || stay.went > last.went ? stay : last;
            if (stay.isGood) {
                goodMet += lastGood != null && stay.came < lastGood.went ? 1 : 0;
                lastGood = lastGood == null || stay.went > lastGood.went ? stay : lastGood;
            }
        }
        long refused = stays.stream().filter(stay -> !stay.isAccepted).count();
        String summary = stays.size() + " stays, " + refused + " refused by their token, " + met + " met another one, "
                + goodMet + " of these with good holds, " + late + " would have written last with an old token";
        assertThat(mistakes).as(summary).isEmpty();
        if (isExclusive) {
            assertThat(goodMet).as(summary).isZero();
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
