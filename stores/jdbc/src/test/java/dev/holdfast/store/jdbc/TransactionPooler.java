package dev.holdfast.store.jdbc;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A pooler in transaction mode between clients and a PostgreSQL server: each transaction gets the connection that was
 * idle for longest. Session state (prepared statements, LISTEN) stays on a connection that another client uses next.
 */
final class TransactionPooler implements AutoCloseable {

    private static final int PROTOCOL = 3 << 16;
    private static final int SSL_REQUEST = 80877103;
    private static final int GSS_REQUEST = 80877104;

    private final ServerSocket server;
    private final BlockingQueue<Wire> idle = new LinkedBlockingQueue<>();
    private final ConcurrentLinkedQueue<Socket> open = new ConcurrentLinkedQueue<>();
    private final AtomicInteger transactions = new AtomicInteger();
    private byte[] greeting = {};

    /** One side of a connection. */
    private record Wire(DataInputStream in, DataOutputStream out) {
        static Wire of(Socket socket) throws IOException {
            socket.setTcpNoDelay(true);
            return new Wire(
                    new DataInputStream(new BufferedInputStream(socket.getInputStream())),
                    new DataOutputStream(new BufferedOutputStream(socket.getOutputStream())));
        }

        /** Forwards one message, and returns its type and first byte. */
        int[] pass(DataOutputStream to) throws IOException {
            int type = in.readUnsignedByte();
            byte[] rest = in.readNBytes(in.readInt() - 4);
            to.writeByte(type);
            to.writeInt(rest.length + 4);
            to.write(rest);
            return new int[] {type, rest.length == 0 ? 0 : rest[0]};
        }
    }

    TransactionPooler(int port, String user, String database, int connections) throws IOException {
        for (int i = 0; i < connections; i++) {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            open.add(socket);
            Wire wire = Wire.of(socket);
            byte[] parameters = ("user\0" + user + "\0database\0" + database + "\0\0").getBytes(StandardCharsets.UTF_8);
            wire.out.writeInt(8 + parameters.length);
            wire.out.writeInt(PROTOCOL);
            wire.out.write(parameters);
            wire.out.flush();
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            DataOutputStream into = new DataOutputStream(said);
            while (wire.pass(into)[0] != 'Z') {
                // Until it is ready for a query.
            }
            greeting = said.toByteArray();
            idle.add(wire);
        }
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    int transactions() {
        return transactions.get();
    }

    private void start(Runnable work) {
        Thread thread = new Thread(work, "transaction-pooler");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = server.accept();
                open.add(socket);
                start(() -> serve(socket));
            }
        } catch (IOException closed) {
            // The pooler was closed.
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            Wire client = Wire.of(socket);
            int code = startup(client);
            while (code == SSL_REQUEST || code == GSS_REQUEST) {
                client.out.writeByte('N');
                client.out.flush();
                code = startup(client);
            }
            client.out.write(greeting);
            client.out.flush();
            while (transaction(client)) {
                transactions.incrementAndGet();
            }
        } catch (IOException | InterruptedException gone) {
            // The client closed the connection.
        }
    }

    private static int startup(Wire client) throws IOException {
        int length = client.in.readInt();
        int code = client.in.readInt();
        byte[] parameters = client.in.readNBytes(length - 8);
        assert parameters.length == length - 8;
        return code;
    }

    /** Forwards one transaction; returns whether there was one. */
    private boolean transaction(Wire client) throws IOException, InterruptedException {
        client.in.mark(1);
        int first = client.in.read();
        client.in.reset();
        if (first < 0 || first == 'X') {
            return false;
        }
        Wire backend = idle.poll(60, TimeUnit.SECONDS);
        if (backend == null) {
            throw new IOException("All connections are in use");
        }
        int status;
        do {
            int type;
            do {
                type = client.pass(backend.out)[0];
            } while (type != 'S' && type != 'Q');
            backend.out.flush();
            int[] answer;
            do {
                answer = backend.pass(client.out);
            } while (answer[0] != 'Z');
            client.out.flush();
            status = answer[1];
        } while (status != 'I');
        idle.add(backend);
        return true;
    }

    @Override
    public void close() {
        try {
            server.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
