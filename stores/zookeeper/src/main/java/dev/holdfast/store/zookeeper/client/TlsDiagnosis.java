package dev.holdfast.store.zookeeper.client;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.NoSuchAlgorithmException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether a connection fails because servers and client disagree on TLS, or because another kind of server
 * listens there. ZooKeeper's client only logs such failures and retries.
 */
final class TlsDiagnosis {

    /**
     * The only command that servers answer by default, and long enough to be recognised as not TLS. The answer does not
     * matter.
     */
    private static final byte[] QUESTION = "srvr\n".getBytes(StandardCharsets.US_ASCII);

    /** An answer that has begun ends after this pause. */
    private static final int ANSWER_PAUSE_MILLIS = 300;

    private final List<InetSocketAddress> servers;
    private final Optional<SSLContext> own;
    private final boolean checksHosts;
    private final Optional<String[]> protocols;
    private final int timeoutMillis;

    /**
     * Creates a diagnosis, which connects to nothing yet.
     *
     * @param own the TLS context of the client; empty if it does not use TLS
     * @param timeout for the answers of all servers together
     */
    TlsDiagnosis(String servers, Optional<SSLContext> own, ZKClientConfig config, Duration timeout) {
        this.servers = new ConnectStringParser(servers).getServerAddresses();
        this.own = own;
        this.checksHosts = own.isPresent() && checksHosts(config);
        this.protocols = own.isPresent() ? TlsSettings.protocols(config) : Optional.empty();
        this.timeoutMillis = Math.max(1, Math.toIntExact(timeout.toMillis() / this.servers.size()));
    }

    private static boolean checksHosts(ZKClientConfig config) {
        try (ClientX509Util util = new ClientX509Util()) {
            return util.isServerHostnameVerificationEnabled(config);
        }
    }

    /** The problem of the first server with a recognised problem. */
    Optional<StoreException> find() {
        return servers.stream().flatMap(server -> find(server).stream()).findFirst();
    }

    private Optional<StoreException> find(InetSocketAddress server) {
        String place = "the ZooKeeper server at " + server.getHostString() + ":" + server.getPort();
        try {
            return Optional.ofNullable(
                    own.isPresent() ? diagnoseSecure(server, own.get(), place) : diagnosePlain(server, place));
        } catch (IOException | NoSuchAlgorithmException e) {
            return Optional.empty(); // no server, or a problem other than TLS
        }
    }

    private @Nullable StoreException diagnosePlain(InetSocketAddress server, String place)
            throws IOException, NoSuchAlgorithmException {
        String answer = plainAnswer(server);
        if (!answer.isEmpty()) {
            return Character.isLetter(answer.charAt(0)) && !answer.startsWith("HTTP")
                    ? null
                    : foreign(server, foreignKind(server).orElse("another kind of server does"));
        }
        IOException failure = handshakeFailure(server, SSLContext.getDefault());
        boolean speaksTls = failure == null || has(failure, CertificateException.class) || isTlsAlert(failure);
        if (speaksTls) {
            return new StoreException(
                    Reason.UNAVAILABLE, Effect.NONE, place + " uses TLS; use the scheme zookeepers://", failure);
        }
        return foreignKind(server)
                .map(description -> foreign(server, description))
                .orElse(null);
    }

    private Optional<String> foreignKind(InetSocketAddress server) {
        return ForeignServer.of(question -> {
                    try {
                        return answer(server, question, ForeignServer.LONGEST_ANSWER);
                    } catch (IOException e) {
                        return "";
                    }
                })
                .map(ForeignServer::description);
    }

    private static StoreException foreign(InetSocketAddress server, String description) {
        return denied(
                "what listens at " + server.getHostString() + ":" + server.getPort()
                        + " is not a ZooKeeper server: it answers as " + description,
                null);
    }

    private @Nullable StoreException diagnoseSecure(InetSocketAddress server, SSLContext context, String place)
            throws IOException {
        IOException failure = handshakeFailure(server, context);
        if (failure == null) {
            return null;
        } else if (has(failure, GeneralSecurityException.class)) {
            return denied(
                    place + " presents a certificate that is not trusted (" + description(failure)
                            + "): set 'ca' to the authority that signed it, and use a host name that the "
                            + "certificate contains",
                    failure);
        } else if (isTlsAlert(failure)) {
            return denied(
                    place + " rejects the TLS handshake of this client (" + description(failure)
                            + "): it may require a certificate from an authority that it trusts (set "
                            + "'clientCertificate'), or another TLS version",
                    failure);
        }
        Optional<String> foreign = foreignKind(server);
        if (foreign.isPresent()) {
            return foreign(server, foreign.get());
        } else if (!plainAnswer(server).isEmpty()) {
            return new StoreException(
                    Reason.UNAVAILABLE,
                    Effect.NONE,
                    place + " does not use TLS on this port; use its secureClientPort, or connect without "
                            + "TLS with the scheme zookeeper://",
                    failure);
        }
        return null;
    }

    /** The first characters that a server sends without TLS; empty if it sends none. A port may support both. */
    private String plainAnswer(InetSocketAddress server) throws IOException {
        String text = answer(server, QUESTION, 4);
        return text.chars().allMatch(c -> c >= ' ' && c < 127) ? text : "";
    }

    /** The beginning of the answer to a question, until the server closes the connection or pauses. */
    private String answer(InetSocketAddress server, byte[] question, int most) throws IOException {
        byte[] answer = new byte[most];
        int size = 0;
        try (Socket socket = connected(server)) {
            socket.getOutputStream().write(question);
            int read = 0;
            while (read >= 0 && size < most) {
                size += read;
                read = socket.getInputStream().read(answer, size, most - size);
                socket.setSoTimeout(Math.min(timeoutMillis, ANSWER_PAUSE_MILLIS));
            }
        } catch (SocketTimeoutException | SocketException e) {
            // The answer is complete.
        }
        return new String(answer, 0, size, StandardCharsets.ISO_8859_1);
    }

    private Socket connected(InetSocketAddress server) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(server.getHostString(), server.getPort()), timeoutMillis);
            socket.setSoTimeout(timeoutMillis);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** The failure of a TLS handshake; null if it succeeds. */
    private @Nullable IOException handshakeFailure(InetSocketAddress server, SSLContext context) throws IOException {
        try (Socket plain = connected(server);
                SSLSocket secure = (SSLSocket) context.getSocketFactory()
                        .createSocket(plain, server.getHostString(), server.getPort(), true)) {
            if (checksHosts) {
                SSLParameters parameters = secure.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                secure.setSSLParameters(parameters);
            }
            protocols.ifPresent(secure::setEnabledProtocols);
            try {
                secure.startHandshake();
            } catch (SocketTimeoutException e) {
                return new SSLException("no answer to the handshake", e);
            }
            // Since TLS 1.3 a server rejects a client only after the handshake. A request could reset the connection
            // and lose the alert, so none is sent. A silent server has accepted the client.
            int unused = secure.getInputStream().read();
            return null;
        } catch (SocketTimeoutException e) {
            return null;
        } catch (SSLException | SocketException e) {
            return e;
        }
    }

    private static StoreException denied(String text, @Nullable IOException failure) {
        return new StoreException(Reason.DENIED, Effect.NONE, text, failure);
    }

    private static boolean isTlsAlert(IOException failure) {
        return failure instanceof SSLException
                && String.valueOf(failure.getMessage()).contains("fatal alert");
    }

    private static boolean has(Throwable failure, Class<? extends Throwable> kind) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (kind.isInstance(cause)) {
                return true;
            }
        }
        return false;
    }

    /** The message of the deepest cause. */
    private static String description(Throwable failure) {
        Throwable cause = failure.getCause();
        return cause == null ? String.valueOf(failure.getMessage()) : description(cause);
    }
}
