package dev.holdfast.servers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.random.RandomGenerator;

/**
 * Ports that nobody listens on, each for this JVM alone until it ends: another one that starts servers at the same time
 * takes others. They are below the range from which the system takes ports for outgoing connections, so no connection is
 * likely to sit on one between the look and the start.
 */
final class Ports {

    private static final int LOWEST = 20_000;
    private static final int HIGHEST = 22_700;
    private static final int TRIES = 1_000;

    private Ports() {}

    static int free() {
        return free(0);
    }

    /** One where the port that lies so far above is free too. */
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

    static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(local(port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
