package dev.holdfast.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A network that can be spoiled: forwards TCP connections to a server, and delays, swallows, resets or refuses as it is
 * told. Needs no privileges.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; what they say holds for open connections too.
 */
public final class FaultProxy implements AutoCloseable {

    /** A way through the proxy. */
    public enum Direction {
        /** Requests. */
        TO_SERVER,
        /** Replies. */
        TO_CLIENT
    }

    private static final int CHUNK = 64 * 1024;

    /** How often a server that does not listen yet is tried. */
    private static final long RETRY_MILLIS = 10;

    private final InetSocketAddress target;
    private final Duration patience;
    private final ServerSocket listener;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();

    /** Texts of the first requests of connections that are swallowed that way. */
    private final Map<Direction, Set<String>> banned = new EnumMap<>(Direction.class);

    private final Map<Direction, AtomicLong> forwarded = new EnumMap<>(Direction.class);
    private final AtomicReference<@Nullable String> cutAfter = new AtomicReference<>();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // Guarded by the lock.
    private final Set<Direction> swallowed = EnumSet.noneOf(Direction.class);
    private final Set<Direction> crumbled = EnumSet.noneOf(Direction.class);
    private Duration delay = Duration.ZERO;
    private boolean refusing;
    private boolean closed;

    private FaultProxy(InetSocketAddress target, Duration patience, ServerSocket listener) {
        this.target = target;
        this.patience = patience;
        this.listener = listener;
        for (Direction direction : Direction.values()) {
            forwarded.put(direction, new AtomicLong());
            banned.put(direction, ConcurrentHashMap.newKeySet());
        }
    }

    /**
     * A proxy for a port on 127.0.0.1, on a port of its own. While the server does not listen, a connection is accepted
     * and closed at once.
     */
    public static FaultProxy to(int port) {
        return to(port, Duration.ZERO);
    }

    /**
     * As {@link #to(int)}, for clients that try again when they are refused, but give up when a connection that was
     * accepted ends: keeps theirs open until the server listens.
     *
     * @param patience how long the server may take
     */
    static FaultProxy to(int port, Duration patience) {
        try {
            ServerSocket listener = new ServerSocket();
            listener.bind(Ports.local(0));
            FaultProxy proxy = new FaultProxy(Ports.local(port), patience, listener);
            daemon("holdfast-proxy-" + proxy.port(), proxy::accept);
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where it listens on 127.0.0.1. */
    public int port() {
        return listener.getLocalPort();
    }

    /** How many connections are open. */
    public int connections() {
        return links.size();
    }

    /** How many bytes went that way. */
    public long forwarded(Direction direction) {
        return bytes(direction).get();
    }

    /** Keeps every chunk for a while, both ways. Those that come meanwhile wait beside it, as in a cable. */
    public void delay(Duration time) {
        change(() -> delay = time);
    }

    /** Hands on what goes that way byte by byte, each in a packet of its own. */
    public void crumble(Direction direction) {
        change(() -> crumbled.add(direction));
    }

    /** Swallows what goes that way from now on; the connection stays open, and nobody is told. */
    public void swallow(Direction direction) {
        change(() -> swallowed.add(direction));
    }

    /** Swallows both ways, as a broken cable does. */
    public void blackHole() {
        change(() -> swallowed.addAll(Set.of(Direction.values())));
    }

    /**
     * Swallows what goes that way on connections whose first request has this text, such as the name of who asks; on
     * those that are open as well.
     */
    public void swallow(Direction direction, String text) {
        texts(direction).add(text);
    }

    /**
     * Silences the open connections for good, as a NAT or a load balancer does that has forgotten them: nothing comes
     * through, not even the end of a connection, and nobody is told. New connections work.
     */
    public void silence() {
        links.forEach(link -> link.isSilent = true);
    }

    /** How many of the open connections are silent, and not given up by the client. */
    public long silent() {
        return links.stream().filter(link -> link.isSilent && !link.isGivenUp).count();
    }

    /** Refuses new connections, by closing them at once. */
    public void refuse() {
        change(() -> refusing = true);
    }

    /** Resets every open connection. */
    public void reset() {
        links.forEach(Link::reset);
    }

    /**
     * Once: when a request has this text, lets it through, and resets the connection when the server begins to answer:
     * it has taken effect, and nobody is told.
     */
    public void cutAfterForwarding(String text) {
        cutAfter.set(text);
    }

    /** Whether the cut that was asked for is still to come. */
    public boolean isCutToCome() {
        return cutAfter.get() != null;
    }

    /** Ends all faults for what comes. What was swallowed is gone, so the connections of a black hole are reset. */
    public void heal() {
        change(() -> {
            if (!swallowed.isEmpty()) {
                reset();
            }
            swallowed.clear();
            for (Direction direction : Direction.values()) {
                links.stream().filter(link -> link.isBanned(direction)).forEach(Link::reset);
                texts(direction).clear();
            }
            crumbled.clear();
            delay = Duration.ZERO;
            refusing = false;
        });
        cutAfter.set(null);
    }

    @Override
    public void close() {
        change(() -> closed = true);
        closeQuietly(listener);
        reset();
    }

    private AtomicLong bytes(Direction direction) {
        return Objects.requireNonNull(forwarded.get(direction));
    }

    private Set<String> texts(Direction direction) {
        return Objects.requireNonNull(banned.get(direction));
    }

    private void change(Runnable how) {
        lock.lock();
        try {
            how.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits out the delay, which may change meanwhile. Whether the chunk is to go on. */
    private boolean letThrough(Direction direction, long arrival) throws InterruptedException {
        lock.lock();
        try {
            while (!closed) {
                long left = delay.toNanos() - (System.nanoTime() - arrival);
                if (left <= 0) {
                    break;
                }
                changed.await(left, TimeUnit.NANOSECONDS);
            }
            return !closed && !swallowed.contains(direction);
        } finally {
            lock.unlock();
        }
    }

    private boolean isCrumbled(Direction direction) {
        lock.lock();
        try {
            return crumbled.contains(direction);
        } finally {
            lock.unlock();
        }
    }

    private boolean isRefusing() {
        lock.lock();
        try {
            return refusing || closed;
        } finally {
            lock.unlock();
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            Socket client;
            try {
                client = listener.accept();
            } catch (IOException e) {
                return; // closed
            }
            if (patience.isZero()) {
                link(client);
            } else {
                daemon("holdfast-proxy-connects", () -> link(client)); // others do not wait for it
            }
        }
    }

    private void link(Socket client) {
        try {
            client.setTcpNoDelay(true);
            Link link = new Link(client, connected());
            links.add(link);
            daemon("holdfast-proxy-requests", () -> link.pump(Direction.TO_SERVER));
            daemon("holdfast-proxy-replies", () -> link.pump(Direction.TO_CLIENT));
        } catch (IOException e) {
            closeQuietly(client);
        }
    }

    private Socket connected() throws IOException {
        long start = System.nanoTime();
        while (true) {
            if (isRefusing()) {
                throw new IOException("refused as told");
            }
            Socket server = new Socket();
            try {
                server.setTcpNoDelay(true);
                server.connect(target);
                return server;
            } catch (IOException e) {
                closeQuietly(server);
                if (System.nanoTime() - start >= patience.toNanos()) {
                    throw e;
                }
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(RETRY_MILLIS));
        }
    }

    private static void daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(AutoCloseable what) {
        try {
            what.close();
        } catch (Exception e) {
            // It is closed as far as anybody can tell.
        }
    }

    /** What was read at once; nothing at the end. */
    private static final class Chunk {
        private final byte[] bytes;

        /** In nanoseconds of the monotonic clock. */
        private final long arrival = System.nanoTime();

        Chunk(byte[] bytes) {
            this.bytes = bytes;
        }

        boolean isEnd() {
            return bytes.length == 0;
        }
    }

    private static void read(Socket from, BlockingQueue<Chunk> arrived) {
        byte[] chunk = new byte[CHUNK];
        try {
            InputStream in = from.getInputStream();
            for (int size = in.read(chunk); size >= 0; size = in.read(chunk)) {
                arrived.add(new Chunk(Arrays.copyOf(chunk, size)));
            }
        } catch (IOException e) {
            // Nothing more comes from there.
        } finally {
            arrived.add(new Chunk(new byte[0]));
        }
    }

    private final class Link {
        private final Socket client;
        private final Socket server;
        private volatile boolean cutNext;
        private volatile boolean isSilent;
        private volatile String firstRequest = "";

        /** By the client, which the server does not hear of. */
        private volatile boolean isGivenUp;

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void pump(Direction direction) {
            boolean isRequest = direction == Direction.TO_SERVER;
            Socket from = isRequest ? client : server;
            BlockingQueue<Chunk> arrived = new LinkedBlockingQueue<>();
            daemon("holdfast-proxy-reads", () -> read(from, arrived));
            try {
                OutputStream out = (isRequest ? server : client).getOutputStream();
                for (Chunk next = arrived.take(); !next.isEnd(); next = arrived.take()) {
                    byte[] chunk = next.bytes;
                    int size = chunk.length;
                    if (isRequest && firstRequest.isEmpty()) {
                        firstRequest = new String(chunk, StandardCharsets.ISO_8859_1);
                    }
                    if (!letThrough(direction, next.arrival) || isSilent || isBanned(direction)) {
                        continue;
                    }
                    if (isRequest) {
                        lookForCut(chunk);
                    } else if (cutNext) {
                        break;
                    }
                    bytes(direction).addAndGet(size); // before anybody can have read it
                    if (isCrumbled(direction)) {
                        for (int i = 0; i < size; i++) {
                            out.write(chunk, i, 1);
                        }
                    } else {
                        out.write(chunk, 0, size);
                    }
                }
            } catch (IOException e) {
                // The other side is gone, and so is this one.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                if (isSilent) {
                    if (isRequest) {
                        isGivenUp = true;
                    }
                    closeQuietly(from);
                } else {
                    reset();
                }
            }
        }

        boolean isBanned(Direction direction) {
            return texts(direction).stream().anyMatch(firstRequest::contains);
        }

        private void lookForCut(byte[] chunk) {
            String text = cutAfter.get();
            if (text != null
                    && new String(chunk, StandardCharsets.ISO_8859_1).contains(text)
                    && cutAfter.compareAndSet(text, null)) {
                cutNext = true;
            }
        }

        void reset() {
            links.remove(this);
            for (Socket socket : new Socket[] {client, server}) {
                try {
                    socket.setSoLinger(true, 0); // an RST instead of a FIN
                } catch (IOException e) {
                    // It is closed already.
                }
                closeQuietly(socket);
            }
        }
    }
}
