package dev.holdfast.benchmarks.server;

import dev.holdfast.benchmarks.harness.Processors;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** The counters of etcd: answered requests of all streams, and proposals, each of which is a quorum write. */
final class EtcdMeter implements Meter {

    private static final Pattern ANSWERED = Pattern.compile("(?m)^grpc_server_msg_received_total\\{[^}]*} (\\S+)$");
    private static final Pattern COMMITTED = Pattern.compile("(?m)^etcd_server_proposals_committed_total (\\S+)$");

    private final URI metrics;
    private final long pid;

    EtcdMeter(Path place) {
        this.metrics = URI.create("http://" + Servers.address(Servers.Kind.ETCD, place) + "/metrics");
        this.pid = Servers.pid(Servers.Kind.ETCD, place);
    }

    /** Uses HTTP, so it is not among the gRPC requests that etcd counts. */
    @Override
    public Reading read() {
        try (InputStream answer = metrics.toURL().openStream()) {
            String text = new String(answer.readAllBytes(), StandardCharsets.UTF_8);
            return new Reading(sum(ANSWERED, text), sum(COMMITTED, text), Processors.ofProcess(pid));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static double sum(Pattern lines, String text) {
        return lines.matcher(text)
                .results()
                .mapToDouble(line -> Double.parseDouble(line.group(1)))
                .sum();
    }
}
