package dev.holdfast.servers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Free ports, each reserved for this JVM until it ends, so that JVMs that start servers at the same time use different
 * ones. They are below the system's range for outgoing connections, so that a connection is unlikely to take one
 * between the check and the start.
 */
final class Ports {

    private static final int LOWEST = 20_000;
    private static final int HIGHEST = 22_700;
    private static final int TRIES = 1_000;

    private Ports() {}

    static int free() {
        return free(0);
    }

    /** A port for which the one at a distance above is free too. */
    static int free(int distance) {
        RandomGenerator random = RandomGenerator.getDefault();
        for (int i = 0; i < TRIES; i++) {
            int port = random.nextInt(LOWEST, HIGHEST);
            if (isFree(port) && (distance == 0 || isFree(port + distance)) && ServerHome.reserve(port)) {
                return port;
            }
        }
        throw new IllegalStateException("No free port after " + TRIES + " tries");
    }

    /** A port of 127.0.0.1; 0 for one that the system chooses. */
    static InetSocketAddress local(int port) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
        } catch (UnknownHostException e) {
            throw new AssertionError(e); // four bytes are an address
        }
    }

    /**
     * Whether a process listens on a port of 127.0.0.1. Uses the system's list if there is one, since a connection
     * would leave a line in the server's log, and binding the port could prevent a server from doing so.
     */
    static boolean isListenedTo(int port) {
        String listening = String.format(":%04X 00000000:0000 0A ", port);
        try (Stream<String> lines = Files.lines(Path.of("/proc/net/tcp"))) {
            return lines.anyMatch(line -> line.contains(listening));
        } catch (IOException e) {
            return !isFree(port);
        }
    }

    static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(local(port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
