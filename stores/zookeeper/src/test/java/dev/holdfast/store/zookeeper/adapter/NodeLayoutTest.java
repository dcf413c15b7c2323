package dev.holdfast.store.zookeeper.adapter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import java.util.HashSet;
import java.util.Set;
import org.apache.zookeeper.common.PathUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeLayoutTest {

    private final NodeLayout layout = new NodeLayout("/holdfast");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a",
                "..",
                ".",
                "a/b",
                "/",
                "zookeeper",
                "%",
                "a%2Fb",
                "\u0000\u001f",
                "\u009f",
                "\uf8ff",
                "\uffff",
                "\uD83D\uDD12",
                "a ",
                "\u00e4"
            })
    void everyNameIsAPathAndIsFoundAgain(String name) {
        ResourceName resource = new ResourceName(name);
        String path = layout.record(resource);
        PathUtils.validatePath(path);
        String node = path.substring(path.lastIndexOf('/') + 1);
        assertThat(NodeLayout.decoded(node)).contains(resource);
    }

    @ParameterizedTest
    @ValueSource(strings = {"%", "%2", "%zz", "%41", "a.b", "%C3", "\u00e4", "%00%"})
    void whatOthersMadeIsNoName(String node) {
        assertThat(NodeLayout.decoded(node)).isEmpty();
    }

    @Test
    void nameOfANodeHasAnyMail() {
        byte[] data = new byte[MailOperations.LONGEST_IN_NAME];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) i;
        }
        String path = layout.mailContent(new SessionId("1-0"), data);
        PathUtils.validatePath(path);
        String node = path.substring(path.lastIndexOf('/') + 1);
        assertThat(NodeLayout.mailContent(node))
                .hasValueSatisfying(found -> assertThat(found).isEqualTo(data));
        assertThat(NodeLayout.isMail(node)).isFalse();
        assertThat(NodeLayout.mailContent("m0000000001")).isEmpty();
        assertThat(NodeLayout.mailContent("c%")).isEmpty();
    }

    @Test
    void namesAreSpreadOverAllShards() {
        Set<Integer> shards = new HashSet<>();
        for (int i = 0; i < 4_000; i++) {
            shards.add(NodeLayout.shardOf(new ResourceName("order/" + i)));
        }
        assertThat(shards).hasSize(NodeLayout.SHARDS);
        assertThat(shards).allSatisfy(shard -> assertThat(shard).isBetween(0, NodeLayout.SHARDS - 1));
    }
}
