package dev.holdfast.store.etcd;

import static dev.holdfast.store.etcd.RawKeys.encoded;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.Cluster;
import dev.holdfast.servers.EtcdCluster;
import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.NeedsEtcd;
import dev.holdfast.servers.storm.Storm;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Three members of etcd, and their clients, under one fault after another. */
@NeedsEtcd
class EtcdStormTest extends Storm<EtcdServer> {

    private static final int QUOTA = 256 * 1024 * 1024;
    private static final String FILLER = "x".repeat(1024 * 1024);

    @Override
    protected Cluster<EtcdServer> start() {
        return EtcdCluster.startWithNetworks(member -> member.option("quota-backend-bytes", String.valueOf(QUOTA)));
    }

    @Override
    protected String uri(String members) {
        return "etcd://" + members + "?timeout=PT2S";
    }

    @Override
    protected List<Map.Entry<String, String>> settings() {
        return List.of(
                Map.entry("heartbeat-interval", "200"),
                Map.entry("heartbeat-interval", "100"),
                Map.entry("election-timeout", "2000"),
                Map.entry("election-timeout", "1200"),
                Map.entry("quota-backend-bytes", String.valueOf(2 * QUOTA)));
    }

    @Override
    protected void fill(Cluster<EtcdServer> cluster, Runnable meanwhile) {
        EtcdServer member = cluster.leader();
        assertThatThrownBy(() -> {
                    for (int i = 0; ; i++) {
                        member.call(
                                "/v3/kv/put",
                                "{\"key\": \"" + encoded("filler/" + i) + "\", \"value\": \"" + FILLER + "\"}");
                    }
                })
                .hasMessageContaining("database space exceeded");
        meanwhile.run();
        member.call(
                "/v3/kv/deleterange",
                "{\"key\": \"" + encoded("filler/") + "\", \"range_end\": \"" + encoded("filler0") + "\"}");
        maintain(cluster);
        for (EtcdServer each : cluster.members()) {
            each.call("/v3/maintenance/defragment", "{}");
        }
        for (EtcdServer each : cluster.members()) { // whichever of them has raised the alarm
            String id = Long.toUnsignedString(each.memberId());
            member.call(
                    "/v3/maintenance/alarm",
                    "{\"action\": \"DEACTIVATE\", \"memberID\": \"" + id + "\", \"alarm\": \"NOSPACE\"}");
        }
    }

    /** Without that its history grows until there is no room. */
    @Override
    protected void maintain(Cluster<EtcdServer> cluster) {
        EtcdServer leader = cluster.leader();
        Matcher revision = Pattern.compile("\"revision\":\"(\\d+)\"").matcher(RawKeys.below(leader, "holdfast/"));
        if (revision.find()) {
            leader.call("/v3/kv/compaction", "{\"revision\": \"" + revision.group(1) + "\", \"physical\": true}");
        }
    }
}
