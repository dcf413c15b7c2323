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

/** Diagnosis of a connection that can't be made because server and client do not agree on TLS. */
final class RedisTlsDiagnosis {

    private static final int DEEPEST = 20;

    private RedisTlsDiagnosis() {}

    /** The failure to connect in words, if it is about TLS; else as it was. */
    static Throwable explained(Throwable failure, RedisURI server) {
        List<Throwable> causes = new ArrayList<>();
        for (Throwable t = failure; t != null && causes.size() < DEEPEST; t = t.getCause()) {
            causes.add(t);
        }
        Throwable deepest = causes.get(causes.size() - 1);
        String place = "the Redis server at " + ConnectionFactory.place(server);
        if (!server.isSsl()) {
            // Whoever speaks TLS hangs up on a greeting that is none.
            return isHangUp(deepest)
                    ? told(
                            Reason.UNAVAILABLE,
                            place + " hung up when it was greeted; if it speaks TLS, the scheme is rediss://",
                            failure)
                    : failure;
        }
        if (has(causes, NotSslRecordException.class) || has(causes, SslHandshakeTimeoutException.class)) {
            return told(
                    Reason.UNAVAILABLE,
                    place + " does not speak TLS; if it is to be used without, the scheme is redis://",
                    failure);
        } else if (has(causes, GeneralSecurityException.class) || has(causes, SSLException.class)) {
            return told(
                    Reason.DENIED,
                    "a TLS connection to " + place + " was refused because of a certificate: " + words(causes),
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

    /** What the one who looked at the certificate says; the last one may only name a date. */
    private static String words(List<Throwable> causes) {
        Throwable deepest = causes.get(causes.size() - 1);
        return deepest.getClass().getSimpleName() + ", " + deepest.getMessage();
    }

    private static StoreException told(Reason reason, String what, Throwable cause) {
        return new StoreException(reason, Effect.NONE, what, cause);
    }
}
