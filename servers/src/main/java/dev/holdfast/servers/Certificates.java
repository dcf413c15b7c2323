package dev.holdfast.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Certificates for servers on this machine, valid and invalid ones. Each JVM creates them with the tools of the JDK.
 */
public final class Certificates {

    private static final String PASSWORD = "changeit";

    /**
     * A certificate and its key, in PEM form.
     *
     * @param certificate the file with the certificate
     * @param key the file with the key
     * @param combined a file with both
     */
    public record Pair(Path certificate, Path key, Path combined) {}

    private final Path directory = ServerHome.directory("certificates");
    private final Path store = directory.resolve("all.p12");

    private Certificates() {}

    /** Creates the certificates. */
    public static Certificates make() {
        Certificates all = new Certificates();
        all.issue("authority", "CN=Holdfast test authority", "-ext", "bc:c");
        all.issue("stranger", "CN=Another authority", "-ext", "bc:c");
        String here = "san=dns:localhost,ip:127.0.0.1";
        all.issue("server", "CN=localhost", "-signer", "authority", "-ext", here);
        all.issue("elsewhere", "CN=elsewhere.example", "-signer", "authority", "-ext", "san=dns:elsewhere.example");
        all.issue(
                "expired",
                "CN=localhost",
                "-signer",
                "authority",
                "-ext",
                here,
                "-startdate",
                "-30d",
                "-validity",
                "10");
        all.issue("client", "CN=A client", "-signer", "authority");
        all.write();
        return all;
    }

    /** The authority that signed all of these. */
    public Path authority() {
        return certificate("authority");
    }

    /** An authority that signed none of them. */
    public Path stranger() {
        return certificate("stranger");
    }

    /** For {@code localhost} and 127.0.0.1. */
    public Pair server() {
        return pair("server");
    }

    /** For another host. */
    public Pair elsewhere() {
        return pair("elsewhere");
    }

    /** For this host, but expired. */
    public Pair expired() {
        return pair("expired");
    }

    /** For a client. */
    public Pair client() {
        return pair("client");
    }

    private Pair pair(String alias) {
        return new Pair(certificate(alias), directory.resolve(alias + ".key"), directory.resolve(alias + ".pem"));
    }

    private Path certificate(String alias) {
        return directory.resolve(alias + ".crt");
    }

    private void issue(String alias, String name, String... more) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1",
                "-genkeypair",
                "-keystore",
                store.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD,
                "-alias",
                alias,
                "-dname",
                name,
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1"));
        command.addAll(List.of(more));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectInput(Path.of("/dev/null").toFile())
                    .start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new IllegalStateException("No certificate for " + alias + ": " + said);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while making certificates", e);
        }
    }

    private void write() {
        try (InputStream in = Files.newInputStream(store)) {
            KeyStore all = KeyStore.getInstance("PKCS12");
            all.load(in, PASSWORD.toCharArray());
            for (String alias : List.of("authority", "stranger", "server", "elsewhere", "expired", "client")) {
                Certificate certificate = all.getCertificate(alias);
                Key key = all.getKey(alias, PASSWORD.toCharArray());
                String certificateText = pem("CERTIFICATE", certificate.getEncoded());
                String keyText = pem("PRIVATE KEY", key.getEncoded());
                Files.writeString(certificate(alias), certificateText);
                Files.writeString(pair(alias).key(), keyText);
                Files.writeString(pair(alias).combined(), certificateText + keyText);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("The certificates can't be read", e);
        }
    }

    private static String pem(String what, byte[] bytes) {
        return "-----BEGIN " + what + "-----\n"
                + Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                        .encodeToString(bytes)
                + "\n-----END " + what + "-----\n";
    }
}
