package dev.holdfast.benchmarks.server;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/*
 * INFO counts operations of scripts like commands of clients; before version 8 nothing distinguishes them. MONITOR
 * does, but slows the server down. So INFO provides the total over the window, and MONITOR its division, sampled for a
 * short time after the window under the same load.
 */

/** The counters of Redis. */
final class RedisMeter implements Meter {

    /** The commands of one reading. */
    private static final int OWN_COMMANDS = 1;

    private static final int QUIET_MILLIS = 20;

    /** The length of the part of a line that names its source. */
    private static final int HEAD = 64;

    private final RedisURI uri;
    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;

    /** The address of this connection, whose commands are ignored in a sample. */
    private final String reader;

    private int readings;

    RedisMeter(String address) {
        this.uri = RedisURI.create(address);
        this.client = RedisClient.create(uri);
        this.connection = client.connect();
        this.reader = addressOf(connection.sync().clientInfo());
    }

    @Override
    public Reading read() {
        String info = connection.sync().info("everything");
        double operations = 0;
        double cpuSeconds = 0;
        for (String line : info.split("\r\n", -1)) {
            if (line.startsWith("cmdstat_")) {
                operations += number(line, "calls=");
            } else if (line.startsWith("used_cpu_sys:") || line.startsWith("used_cpu_user:")) {
                cpuSeconds += number(line, ":");
            }
        }
        // Without the earlier readings; this one is not counted yet.
        return new Reading(operations - (double) readings++ * OWN_COMMANDS, 0, cpuSeconds * 1e9);
    }

    private static double number(String line, String before) {
        int from = line.indexOf(before) + before.length();
        int to = line.indexOf(',', from);
        return Double.parseDouble(to < 0 ? line.substring(from) : line.substring(from, to));
    }

    @Override
    public boolean nests() {
        return true;
    }

    @Override
    public Sample sample(Duration time) {
        try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
            socket.setSoTimeout(QUIET_MILLIS);
            socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
            return count(new BufferedInputStream(socket.getInputStream(), 1 << 16), System.nanoTime() + time.toNanos());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The address of a client in a line such as {@code id=4 addr=127.0.0.1:5240 laddr=…}. */
    private static String addressOf(String client) {
        int from = client.indexOf("addr=") + "addr=".length();
        return client.substring(from, client.indexOf(' ', from));
    }

    /**
     * Counts lines such as {@code +1795261345.98 [0 127.0.0.1:5240] "GET" "a"}, or {@code [0 lua]} in a script; not
     * those of the reader.
     */
    private Sample count(InputStream bytes, long end) throws IOException {
        long commands = 0;
        long inner = 0;
        StringBuilder head = new StringBuilder();
        while (System.nanoTime() - end < 0) {
            if (!readLine(bytes, head)) {
                continue;
            }
            int from = head.indexOf("[");
            int to = head.indexOf("]", from);
            if (from >= 0 && to >= 0) {
                String source = head.substring(from, to);
                boolean isInner = source.endsWith(" lua");
                inner += isInner ? 1 : 0;
                commands += isInner || source.endsWith(" " + reader) ? 0 : 1;
            }
            head.setLength(0);
        }
        return new Sample(commands, inner);
    }

    /** Reads to the end of the line and keeps its head; returns false if nothing more has arrived. */
    private static boolean readLine(InputStream bytes, StringBuilder head) throws IOException {
        try {
            for (int next = bytes.read(); next != '\n'; next = bytes.read()) {
                if (next < 0) {
                    throw new EOFException("the server hung up");
                }
                if (head.length() < HEAD) {
                    head.append((char) next);
                }
            }
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
}
