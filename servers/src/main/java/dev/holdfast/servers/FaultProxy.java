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
 * A network with faults on demand: forwards TCP connections to a server, and delays, drops, resets or refuses. Needs no
 * privileges.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread, and affect open connections too.
 */
public final class FaultProxy implements AutoCloseable {

    /** A direction through the proxy. */
    public enum Direction {
        /** Requests. */
        TO_SERVER,
        /** Replies. */
        TO_CLIENT
    }

    private static final int CHUNK = 64 * 1024;

    /** The pause between attempts to connect to a server that does not listen yet. */
    private static final long RETRY_MILLIS = 10;

    private final InetSocketAddress target;
    private final Duration connectTimeout;
    private final ServerSocket listener;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();

    /** By direction, texts of first requests; connections with such a request are swallowed. */
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

    private FaultProxy(InetSocketAddress target, Duration connectTimeout, ServerSocket listener) {
        this.target = target;
        this.connectTimeout = connectTimeout;
        this.listener = listener;
        for (Direction direction : Direction.values()) {
            forwarded.put(direction, new AtomicLong());
            banned.put(direction, ConcurrentHashMap.newKeySet());
        }
    }

    /**
     * A proxy for a port on 127.0.0.1, on a free port. While the server does not listen, connections are accepted and
     * closed at once.
     */
    public static FaultProxy to(int port) {
        return to(port, Duration.ZERO);
    }

    /**
     * A proxy that keeps accepted connections open until the server listens: for clients that retry after a refused
     * connection, but not after an accepted one that ends.
     *
     * @param connectTimeout the longest wait for the server
     */
    static FaultProxy to(int port, Duration connectTimeout) {
        try {
            ServerSocket listener = new ServerSocket();
            listener.bind(Ports.local(0));
            FaultProxy proxy = new FaultProxy(Ports.local(port), connectTimeout, listener);
            daemon("holdfast-proxy-" + proxy.port(), proxy::accept);
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its port on 127.0.0.1. */
    public int port() {
        return listener.getLocalPort();
    }

    /** The number of open connections. */
    public int connections() {
        return links.size();
    }

    /** The number of bytes forwarded in a direction. */
    public long forwarded(Direction direction) {
        return bytes(direction).get();
    }

    /** Delays every chunk in both directions. Chunks don't wait for each other, as in a cable. */
    public void delay(Duration time) {
        change(() -> delay = time);
    }

    /** Forwards a direction byte by byte, each in a separate packet. */
    public void crumble(Direction direction) {
        change(() -> crumbled.add(direction));
    }

    /** Silently drops a direction from now on; connections stay open. */
    public void swallow(Direction direction) {
        change(() -> swallowed.add(direction));
    }

    /** Silently drops both directions, like a broken cable. */
    public void blackHole() {
        change(() -> swallowed.addAll(Set.of(Direction.values())));
    }

    /**
     * Silently drops a direction on connections, open ones too, whose first request contains a text, such as the name
     * of the client.
     */
    public void swallow(Direction direction, String text) {
        texts(direction).add(text);
    }

    /**
     * Silences the open connections for ever, like a NAT or a load balancer that has forgotten them: nothing is
     * forwarded, not even the end of a connection. New connections work.
     */
    public void silence() {
        links.forEach(link -> link.isSilent = true);
    }

    /** The number of open connections that are silent and that the client has not closed. */
    public long silent() {
        return links.stream().filter(link -> link.isSilent && !link.isGivenUp).count();
    }

    /** Closes new connections at once. */
    public void refuse() {
        change(() -> refusing = true);
    }

    /** Resets every open connection. */
    public void reset() {
        links.forEach(Link::reset);
    }

    /**
     * Once, when a request contains a text, forwards it, and resets the connection when the server begins to reply. The
     * request has taken effect, but the client gets no reply.
     */
    public void cutAfterForwarding(String text) {
        cutAfter.set(text);
    }

    /** Whether that cut has yet to happen. */
    public boolean isCutToCome() {
        return cutAfter.get() != null;
    }

    /** Ends all faults. Connections with dropped bytes are reset, since the bytes are lost. */
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

    private void change(Runnable action) {
        lock.lock();
        try {
            action.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the delay, which may change meanwhile; returns whether to forward the chunk. */
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
            if (connectTimeout.isZero()) {
                link(client);
            } else {
                daemon("holdfast-proxy-connects", () -> link(client)); // other connections do not wait for it
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
                if (System.nanoTime() - start >= connectTimeout.toNanos()) {
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
            // Closed as far as the peers can see.
        }
    }

    /** The bytes of one read; empty at the end. */
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
            // The end of this direction.
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

        /** Whether the client has closed it; the server is not notified. */
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
                        checkForCut(chunk);
                    } else if (cutNext) {
                        break;
                    }
                    bytes(direction).addAndGet(size); // before the peer can have read it
                    if (isCrumbled(direction)) {
                        for (int i = 0; i < size; i++) {
                            out.write(chunk, i, 1);
                        }
                    } else {
                        out.write(chunk, 0, size);
                    }
                }
            } catch (IOException e) {
                // The other side is closed, and so is this one.
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

        private void checkForCut(byte[] chunk) {
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
                    // Closed already.
                }
                closeQuietly(socket);
            }
        }
    }
}
