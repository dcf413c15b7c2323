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
 * Diagnosis of a connection that does not come about because servers and client do not agree on TLS, or because another
 * kind of server listens there. ZooKeeper's client only logs what it fails of, and tries again.
 */
final class TlsDiagnosis {

    /**
     * The only question that servers answer by default, in as many bytes as it takes to see that it is not TLS. The
     * answer does not matter.
     */
    private static final byte[] QUESTION = "srvr\n".getBytes(StandardCharsets.US_ASCII);

    /** After so long without a word the answer is over, once it has begun. */
    private static final int PAUSE_MILLIS = 300;

    private final List<InetSocketAddress> servers;
    private final Optional<SSLContext> own;
    private final boolean checksHosts;
    private final Optional<String[]> protocols;
    private final int timeoutMillis;

    /**
     * Looks at no server yet.
     *
     * @param own what secures the connections of the client; empty if they are plain
     * @param timeout the time for the answers of all servers together
     */
    TlsDiagnosis(String servers, Optional<SSLContext> own, ZKClientConfig config, Duration timeout) {
        this.servers = new ConnectStringParser(servers).getServerAddresses();
        this.own = own;
        this.checksHosts = own.isPresent() && checksHosts(config);
        this.protocols = own.isPresent() ? Tls.protocols(config) : Optional.empty();
        this.timeoutMillis = Math.max(1, Math.toIntExact(timeout.toMillis() / this.servers.size()));
    }

    private static boolean checksHosts(ZKClientConfig config) {
        try (ClientX509Util util = new ClientX509Util()) {
            return util.isServerHostnameVerificationEnabled(config);
        }
    }

    /** What is wrong with the first server of which that can be told. */
    Optional<StoreException> find() {
        return servers.stream().flatMap(server -> find(server).stream()).findFirst();
    }

    private Optional<StoreException> find(InetSocketAddress server) {
        String place = "the ZooKeeper server at " + server.getHostString() + ":" + server.getPort();
        try {
            return Optional.ofNullable(own.isPresent() ? ofSecure(server, own.get(), place) : ofPlain(server, place));
        } catch (IOException | NoSuchAlgorithmException e) {
            return Optional.empty(); // nobody there, or nothing to do with TLS
        }
    }

    private @Nullable StoreException ofPlain(InetSocketAddress server, String place)
            throws IOException, NoSuchAlgorithmException {
        String answer = plainAnswer(server);
        if (!answer.isEmpty()) {
            return Character.isLetter(answer.charAt(0)) && !answer.startsWith("HTTP")
                    ? null
                    : foreign(server, ofForeign(server).orElse("another kind of server does"));
        }
        IOException failure = failureOfTls(server, SSLContext.getDefault());
        boolean speaksTls = failure == null || has(failure, CertificateException.class) || isAlert(failure);
        if (speaksTls) {
            return new StoreException(
                    Reason.UNAVAILABLE, Effect.NONE, place + " uses TLS; use the scheme zookeepers://", failure);
        }
        return ofForeign(server).map(words -> foreign(server, words)).orElse(null);
    }

    private Optional<String> ofForeign(InetSocketAddress server) {
        return ForeignServer.of(question -> {
                    try {
                        return answer(server, question, ForeignServer.LONGEST_ANSWER);
                    } catch (IOException e) {
                        return "";
                    }
                })
                .map(ForeignServer::words);
    }

    private static StoreException foreign(InetSocketAddress server, String words) {
        return denied(
                "what listens at " + server.getHostString() + ":" + server.getPort()
                        + " is not a ZooKeeper server: it answers as " + words,
                null);
    }

    private @Nullable StoreException ofSecure(InetSocketAddress server, SSLContext context, String place)
            throws IOException {
        IOException failure = failureOfTls(server, context);
        if (failure == null) {
            return null;
        } else if (has(failure, GeneralSecurityException.class)) {
            return denied(
                    place + " presents a certificate that is not trusted (" + words(failure)
                            + "): set 'ca' to the authority that signed it, and use a host name that the "
                            + "certificate contains",
                    failure);
        } else if (isAlert(failure)) {
            return denied(
                    place + " rejects the TLS handshake of this client (" + words(failure)
                            + "): it may require a certificate from an authority that it trusts (set "
                            + "'clientCertificate'), or another TLS version",
                    failure);
        }
        Optional<String> foreign = ofForeign(server);
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

    /** The first characters that it sends to a client without TLS; empty if they are none. A port may do both. */
    private String plainAnswer(InetSocketAddress server) throws IOException {
        String text = answer(server, QUESTION, 4);
        return text.chars().allMatch(c -> c >= ' ' && c < 127) ? text : "";
    }

    /** The first characters that it sends to a client that sends this: what comes until it closes, or says no more. */
    private String answer(InetSocketAddress server, byte[] question, int most) throws IOException {
        byte[] answer = new byte[most];
        int size = 0;
        try (Socket socket = connected(server)) {
            socket.getOutputStream().write(question);
            int read = 0;
            while (read >= 0 && size < most) {
                size += read;
                read = socket.getInputStream().read(answer, size, most - size);
                socket.setSoTimeout(Math.min(timeoutMillis, PAUSE_MILLIS));
            }
        } catch (SocketTimeoutException | SocketException e) {
            // That was all.
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

    /** Null if the two agree. */
    private @Nullable IOException failureOfTls(InetSocketAddress server, SSLContext context) throws IOException {
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
            // From TLS 1.3 on a server refuses a client after that. It is asked nothing: what it can't read any more
            // would
            // reset the connection, and lose the refusal. One that says nothing has no objection.
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

    private static boolean isAlert(IOException failure) {
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

    /** What the one who looked at the certificate says. */
    private static String words(Throwable failure) {
        Throwable cause = failure.getCause();
        return cause == null ? String.valueOf(failure.getMessage()) : words(cause);
    }
}
