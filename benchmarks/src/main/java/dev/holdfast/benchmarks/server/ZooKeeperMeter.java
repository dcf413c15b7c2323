package dev.holdfast.benchmarks.server;

import dev.holdfast.benchmarks.harness.Processors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** What ZooKeeper counts: packets that it received, pings of sessions included, and transactions, which are writes. */
final class ZooKeeperMeter implements FlatMeter {

    private static final String PACKETS = "Received: ";
    private static final String TRANSACTION = "Zxid: 0x";

    /** The rest is the number of the leader's term. */
    private static final long COUNT_IN_TERM = 0xffff_ffffL;

    private final String host;
    private final int port;
    private final long pid;

    ZooKeeperMeter(Path place) {
        String address = Servers.address(Servers.Kind.ZOOKEEPER, place);
        this.host = address.substring(0, address.indexOf(':'));
        this.port = Integer.parseInt(address.substring(address.indexOf(':') + 1));
        this.pid = Servers.pid(Servers.Kind.ZOOKEEPER, place);
    }

    /** This is no packet. */
    @Override
    public Reading read() {
        try (Socket socket = new Socket(host, port)) {
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            String text = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return new Reading(
                    Long.parseLong(after(PACKETS, text)),
                    Long.parseLong(after(TRANSACTION, text), 16) & COUNT_IN_TERM,
                    Processors.ofProcess(pid));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String after(String head, String text) {
        return text.lines()
                .filter(line -> line.startsWith(head))
                .map(line -> line.substring(head.length()).strip())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no " + head + "in: " + text));
    }

    @Override
    public void close() {}
}
