package dev.holdfast.spring.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Holdfast;
import dev.holdfast.election.TermEnd;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

@DisplayName("The campaign of an application")
class LeaderCampaignTest {

    private final String uri = "memory:" + UUID.randomUUID();
    private final Holdfast keeper = Holdfast.connect(uri);
    private final List<AnnotationConfigApplicationContext> open = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        open.forEach(AnnotationConfigApplicationContext::close);
        keeper.close();
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {

        final List<Object> events = new CopyOnWriteArrayList<>();

        @Bean
        LeaderCampaign importer(Holdfast holdfast) {
            return new LeaderCampaign(holdfast, "importer");
        }

        @EventListener
        void granted(LeadershipGrantedEvent event) {
            events.add(event);
        }

        @EventListener
        void revoked(LeadershipRevokedEvent event) {
            events.add(event);
        }

        @EventListener
        void ended(TermEndedEvent event) {
            events.add(event);
        }
    }

    private AnnotationConfigApplicationContext start() {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.register(Application.class);
        context.registerBean(Holdfast.class, () -> Holdfast.connect(uri));
        context.refresh();
        open.add(context);
        return context;
    }

    private static LeaderCampaign campaign(AnnotationConfigApplicationContext context) {
        return context.getBean(LeaderCampaign.class);
    }

    private static List<Object> events(AnnotationConfigApplicationContext context) {
        return context.getBean(Application.class).events;
    }

    @Test
    @DisplayName("leads in one application, and in the next when that is closed")
    void takesOver() {
        var first = start();
        await().until(() -> campaign(first).isLeader());
        var second = start();
        assertThat(campaign(second).isRunning()).isTrue();
        assertThat(campaign(second).isLeader()).isFalse();
        assertThat(campaign(second).leadership()).isEmpty();

        long term = campaign(first).leadership().orElseThrow().term();
        List<Object> events = events(first);
        first.close();
        assertThat(events).hasSize(2);
        assertThat(events.get(0)).isInstanceOfSatisfying(LeadershipGrantedEvent.class, granted -> {
            assertThat(granted.election()).isEqualTo("importer");
            assertThat(granted.leadership().term()).isEqualTo(term);
            assertThat(granted.leadership().isLeader()).isFalse();
        });
        assertThat(events.get(1)).isInstanceOfSatisfying(TermEndedEvent.class, ended -> {
            assertThat(ended.term()).isEqualTo(term);
            assertThat(ended.end().reason()).isEqualTo(TermEnd.Reason.CLOSED);
        });
        assertThat(campaign(second).isRunning()).isTrue();
        await().until(() -> campaign(second).isLeader());
        assertThat(campaign(second).leadership().orElseThrow().term()).isGreaterThan(term);
    }

    @Test
    @DisplayName("publishes that a term was resigned, and stands again")
    void resigns() {
        var context = start();
        await().until(() -> campaign(context).isLeader());
        assertThat(campaign(context).resign()).isTrue();
        await().until(() -> events(context).size() >= 3 && campaign(context).isLeader());
        assertThat(events(context).get(1))
                .isInstanceOfSatisfying(
                        TermEndedEvent.class,
                        ended -> assertThat(ended.end().reason()).isEqualTo(TermEnd.Reason.RESIGNED));
        assertThat(events(context).get(2)).isInstanceOf(LeadershipGrantedEvent.class);
    }

    @Test
    @DisplayName("publishes at once that a term was lost")
    void loses() {
        var context = start();
        await().until(() -> campaign(context).isLeader());
        context.getBean(Holdfast.class).close();
        assertThat(campaign(context).isLeader()).isFalse();
        await().until(() -> events(context).size() == 3);
        assertThat(events(context)).hasAtLeastOneElementOfType(LeadershipRevokedEvent.class);
        assertThat(events(context)).hasAtLeastOneElementOfType(TermEndedEvent.class);
    }

    @Test
    @DisplayName("can be ended and begun again")
    void restarts() {
        var context = start();
        LeaderCampaign campaign = campaign(context);
        await().until(campaign::isLeader);
        campaign.start();
        campaign.stop();
        assertThat(campaign.isLeader()).isFalse();
        assertThat(campaign.isRunning()).isFalse();
        campaign.start();
        await().until(campaign::isLeader);
    }
}
