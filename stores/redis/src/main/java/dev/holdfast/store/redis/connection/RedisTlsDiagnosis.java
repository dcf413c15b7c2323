package dev.holdfast.store.redis.connection;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import io.lettuce.core.RedisURI;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLException;

/** Diagnoses failures to connect that have to do with TLS. */
final class RedisTlsDiagnosis {

    private static final int DEEPEST = 20;

    private RedisTlsDiagnosis() {}

    /** The failure with an explanation if it is about TLS; otherwise unchanged. */
    static Throwable explained(Throwable failure, RedisURI server) {
        List<Throwable> causes = new ArrayList<>();
        for (Throwable t = failure; t != null && causes.size() < DEEPEST; t = t.getCause()) {
            causes.add(t);
        }
        Throwable deepest = causes.get(causes.size() - 1);
        String place = "the Redis server at " + ConnectionFactory.place(server);
        if (!server.isSsl()) {
            // A TLS server hangs up on a plain greeting.
            return isHangUp(deepest)
                    ? explanation(
                            Reason.UNAVAILABLE,
                            place + " closed the connection during the handshake; if the server uses TLS, "
                                    + "the scheme is rediss://",
                            failure)
                    : failure;
        }
        if (has(causes, NotSslRecordException.class) || has(causes, SslHandshakeTimeoutException.class)) {
            return explanation(
                    Reason.UNAVAILABLE,
                    place + " does not use TLS; to connect without it, use the scheme redis://",
                    failure);
        } else if (has(causes, GeneralSecurityException.class) || has(causes, SSLException.class)) {
            return explanation(
                    Reason.DENIED,
                    "the TLS connection to " + place + " was rejected because of a certificate: " + words(causes),
                    failure);
        }
        return failure;
    }

    private static boolean isHangUp(Throwable deepest) {
        return deepest instanceof ClosedChannelException
                || (deepest instanceof IOException
                        && String.valueOf(deepest.getMessage()).contains("reset"));
    }

    private static boolean has(List<Throwable> causes, Class<? extends Throwable> kind) {
        return causes.stream().anyMatch(kind::isInstance);
    }

    /** The message of the certificate check; the deepest cause may name only a date. */
    private static String words(List<Throwable> causes) {
        Throwable deepest = causes.get(causes.size() - 1);
        return deepest.getClass().getSimpleName() + ", " + deepest.getMessage();
    }

    private static StoreException explanation(Reason reason, String what, Throwable cause) {
        return new StoreException(reason, Effect.NONE, what, cause);
    }
}
