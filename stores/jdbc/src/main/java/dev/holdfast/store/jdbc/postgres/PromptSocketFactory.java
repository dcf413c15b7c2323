package dev.holdfast.store.jdbc.postgres;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Sockets for a connection on which PostgreSQL sends notifications; created by the driver, and not useful otherwise.
 * After each notification the driver (as of version 42.7) waits another millisecond for more, by a read with the
 * shortest time-out, before it returns: longer than a whole hand-over of a lock. With these sockets such a read ends at
 * once if nothing has arrived; other reads are unchanged. The next read returns what arrives later.
 *
 * <p><b>Thread-safety:</b> as for sockets.
 */
public final class PromptSocketFactory extends SocketFactory {

    private static final int BRIEF_READ_MILLIS = 1;

    /** For the driver, which creates an instance by class name. */
    public PromptSocketFactory() {}

    @Override
    public Socket createSocket() {
        return new PromptSocket();
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return connected(new InetSocketAddress(host, port), null);
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
        return connected(new InetSocketAddress(host, port), new InetSocketAddress(localHost, localPort));
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return connected(new InetSocketAddress(host, port), null);
    }

    @Override
    public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort)
            throws IOException {
        return connected(new InetSocketAddress(address, port), new InetSocketAddress(localAddress, localPort));
    }

    private static Socket connected(SocketAddress to, @Nullable SocketAddress from) throws IOException {
        Socket made = new PromptSocket();
        try {
            made.bind(from);
            made.connect(to);
            return made;
        } catch (IOException e) {
            made.close();
            throw e;
        }
    }

    private static final class PromptSocket extends Socket {

        private volatile boolean isBriefRead;

        @Override
        public synchronized void setSoTimeout(int millis) throws SocketException {
            isBriefRead = millis == BRIEF_READ_MILLIS;
            super.setSoTimeout(millis);
        }

        @Override
        public InputStream getInputStream() throws IOException {
            return new FilterInputStream(super.getInputStream()) {
                @Override
                public int read() throws IOException {
                    requireSome();
                    return super.read();
                }

                @Override
                public int read(byte[] into, int offset, int length) throws IOException {
                    requireSome();
                    return super.read(into, offset, length);
                }

                private void requireSome() throws IOException {
                    if (isBriefRead && available() == 0) {
                        throw new SocketTimeoutException("No data has arrived");
                    }
                }
            };
        }
    }
}
