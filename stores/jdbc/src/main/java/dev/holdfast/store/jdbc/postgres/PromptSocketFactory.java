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
 * Sockets for a connection on which PostgreSQL tells of something; made by the driver, and of no use to anybody else.
 * Whenever the driver (as of version 42.7) has heard something it looks for a millisecond whether there is more, by a
 * read with the shortest time-out there is, and only then passes on what it has heard: longer than a whole hand-over of
 * a lock takes. With these sockets such a read ends at once where nothing has arrived; all others are as ever. What
 * arrives later is heard by the next look.
 *
 * <p><b>Thread-safety:</b> that of sockets.
 */
public final class PromptSocketFactory extends SocketFactory {

    private static final int LOOK_MILLIS = 1;

    /** For the driver, which makes one by its name. */
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

        private volatile boolean looks;

        @Override
        public synchronized void setSoTimeout(int millis) throws SocketException {
            looks = millis == LOOK_MILLIS;
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
                    if (looks && available() == 0) {
                        throw new SocketTimeoutException("Nothing has arrived");
                    }
                }
            };
        }
    }
}
