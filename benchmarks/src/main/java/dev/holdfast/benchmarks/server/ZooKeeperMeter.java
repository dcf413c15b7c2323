package dev.holdfast.benchmarks.server;

import dev.holdfast.benchmarks.harness.Processors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The counters of ZooKeeper: received packets, including pings of sessions, and transactions, which are writes. */
final class ZooKeeperMeter implements Meter {

    private static final String PACKETS = "Received: ";
    private static final String TRANSACTION = "Zxid: 0x";

    /** The other bits of a transaction id are the leader's epoch. */
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

    /** A four-letter command, which ZooKeeper does not count as a packet. */
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
}
