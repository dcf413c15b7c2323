package dev.holdfast.store.etcd;

import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * The TLS settings of connections. The host name is always verified.
 *
 * @param isOn whether connections use TLS
 * @param authorities the trusted authorities; null for those of the JVM
 * @param certificate the client certificate; null for none
 * @param key its key
 */
record Tls(
        boolean isOn,
        @Nullable Path authorities,
        @Nullable Path certificate,
        @Nullable Path key) {

    static final Tls OFF = new Tls(false, null, null, null);

    Tls on() {
        return new Tls(true, authorities, certificate, key);
    }

    Tls trusting(Path others) {
        return new Tls(true, readable(others), certificate, key);
    }

    Tls showing(Path own, Path itsKey) {
        return new Tls(true, authorities, readable(own), readable(itsKey));
    }

    private static Path readable(Path file) {
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw new IllegalArgumentException("There is no readable PEM file at '" + file + "'");
        }
        return file;
    }

    /** The context for connections; null if they are plain. */
    @Nullable
    SslContext context() {
        if (!isOn) {
            return null;
        }
        SslContextBuilder builder = SslContextBuilder.forClient();
        Path trusted = authorities;
        Path own = certificate;
        Path itsKey = key;
        try {
            if (trusted != null) {
                builder.trustManager(trusted.toFile());
            }
            if (own != null && itsKey != null) {
                builder.keyManager(own.toFile(), itsKey.toFile());
            }
            return GrpcSslContexts.configure(builder, SslProvider.JDK).build();
        } catch (SSLException | IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "The TLS files must contain certificates and a PKCS #8 key in PEM format: " + e.getMessage(), e);
        }
    }
}
