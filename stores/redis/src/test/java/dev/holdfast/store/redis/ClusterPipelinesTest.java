package dev.holdfast.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.store.redis.connection.FlushConsolidation;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How commands get to the nodes of a cluster, and what is left of that in the client. */
@Tag("server")
class ClusterPipelinesTest {

    private static RedisStore store(String namespace) {
        return TestCluster.builder(TestCluster.shared()).namespace(namespace).open();
    }

    @Test
    void lanesOfBucketsThatNobodyUsesAreDropped() throws Exception {
        try (RedisStore store = store("lanes-idle");
                Holdfast client = Holdfast.builder(store).build()) {
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < 40; i++) {
                    client.lock("name/" + i).acquire().close();
                }
                assertThat(store.buckets().used()).isGreaterThan(20);
                store.buckets().maintain(Duration.ofMinutes(1));
                assertThat(store.buckets().used()).isGreaterThan(20);
                store.buckets().maintain(Duration.ZERO);
                assertThat(store.buckets().used()).isZero();
            }
        }
    }

    @Test
    void whoHasADroppedLaneInHandIsServedByTheNext() throws Exception {
        try (RedisStore store = store("lanes-dropped");
                Holdfast one = Holdfast.builder(store).build();
                Holdfast two = Holdfast.connect(TestCluster.shared().uri() + "?namespace=lanes-dropped")) {
            AtomicInteger inside = new AtomicInteger();
            ExecutorService threads = Executors.newFixedThreadPool(4);
            try {
                List<Future<Integer>> running = IntStream.range(0, 4)
                        .mapToObj(i -> threads.submit(() -> {
                            Holdfast client = i == 0 ? two : one;
                            for (int round = 0; round < 150; round++) {
                                try (Hold hold = client.lock("hot/" + round % 3).acquire(Duration.ofMinutes(1))) {
                                    assertThat(hold.fencingToken()).isPositive();
                                    inside.incrementAndGet();
                                }
                            }
                            return 150;
                        }))
                        .toList();
                while (running.stream().anyMatch(each -> !each.isDone())) {
                    store.buckets().maintain(Duration.ZERO);
                }
                for (Future<Integer> each : running) {
                    assertThat(each.get(1, TimeUnit.MINUTES)).isEqualTo(150);
                }
            } finally {
                threads.shutdownNow();
            }
            assertThat(inside).hasValue(600);
        }
    }

    @Test
    void whatFollowsFromOneReadLeavesTogether() {
        AtomicInteger flushes = new AtomicInteger();
        List<Channel> customized = new ArrayList<>();
        ClientResources theirs = ClientResources.builder()
                .nettyCustomizer(new NettyCustomizer() {
                    @Override
                    public void afterChannelInitialized(Channel made) {
                        customized.add(made);
                    }
                })
                .build();
        EmbeddedChannel channel = new EmbeddedChannel();
        try {
            FlushConsolidation.of(theirs).nettyCustomizer().afterChannelInitialized(channel);
            assertThat(customized).as("what the program has set up is done too").containsExactly(channel);
            channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
                @Override
                public void flush(ChannelHandlerContext context) {
                    flushes.incrementAndGet();
                    context.flush();
                }
            });
            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object answer) {
                    context.channel().writeAndFlush(answer);
                }
            });
            for (int i = 0; i < 20; i++) {
                channel.pipeline().fireChannelRead(Unpooled.wrappedBuffer(new byte[] {(byte) i}));
            }
            assertThat(channel.outboundMessages()).isEmpty();
            channel.pipeline().fireChannelReadComplete();
            assertThat(channel.outboundMessages()).hasSize(20);
            assertThat(flushes).hasValue(1);
        } finally {
            channel.finishAndReleaseAll();
            theirs.shutdown(0, 1, TimeUnit.SECONDS);
        }
    }

    @Test
    void clientOfTheProgramIsUsedForItsOptionsAndNeverClosed() throws Exception {
        RedisClusterClient theirs =
                RedisClusterClient.create(RedisUnderTest.RESOURCES, TestCluster.nodes(TestCluster.shared()));
        try (StatefulRedisClusterConnection<String, String> own = theirs.connect()) {
            try (RedisStore store = RedisStore.clusterBuilder(TestCluster.nodes(TestCluster.shared()))
                            .client(theirs)
                            .namespace("lanes-lent")
                            .open();
                    Holdfast client = Holdfast.builder(store).build()) {
                for (int i = 0; i < 10; i++) {
                    client.lock("name/" + i).acquire().close();
                }
            }
            assertThat(own.sync().ping()).isEqualTo("PONG");
            assertThat(own.isOpen()).isTrue();
        } finally {
            theirs.shutdown(0, 1, TimeUnit.SECONDS);
        }
    }
}
