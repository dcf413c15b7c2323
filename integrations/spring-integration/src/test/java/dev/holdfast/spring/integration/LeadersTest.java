package dev.holdfast.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Holdfast;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.integration.leader.AbstractCandidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.leader.event.AbstractLeaderEvent;
import org.springframework.integration.leader.event.OnFailedToAcquireMutexEvent;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.leader.event.OnRevokedEvent;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

@ExtendWith(HoldfastExtension.class)
@DisplayName("Leaders")
class LeadersTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String ELECTION = HoldfastLeaderInitiator.PREFIX + "scheduler";

    /** Notes what it is told. */
    private static class Notes extends AbstractCandidate {
        final List<String> roles = new CopyOnWriteArrayList<>();
        volatile Context context = () -> false;

        Notes(String id) {
            super(id, "scheduler");
        }

        @Override
        public void onGranted(Context ctx) throws InterruptedException {
            context = ctx;
            roles.add("granted");
        }

        @Override
        public void onRevoked(Context ctx) {
            roles.add("revoked");
        }

        void awaitTold(String... all) {
            await().atMost(TIMEOUT).untilAsserted(() -> assertThat(roles).containsExactly(all));
        }
    }

    // ---- Of ours

    @Test
    @DisplayName("are elected in turn, are told, and stand again when they yield")
    void takeTurns(Holdfast holdfast, TestStore store) {
        Notes here = new Notes("here");
        Notes there = new Notes("there");
        HoldfastLeaderInitiator first = new HoldfastLeaderInitiator(holdfast, here);
        HoldfastLeaderInitiator second = new HoldfastLeaderInitiator(store.elsewhere(), there);
        assertThat(first.getContext().isLeader()).isFalse();
        first.start();
        first.start();
        here.awaitTold("granted");
        second.start();
        assertThat(first.isRunning()).isTrue();
        assertThat(first.getContext().isLeader()).isTrue();
        assertThat(here.context.getRole()).isEqualTo("scheduler");
        store.advance(Duration.ofHours(1));
        assertThat(here.context.isLeader()).isTrue();
        assertThat(there.roles).isEmpty();

        await().atMost(TIMEOUT).until(() -> {
            here.context.yield(); // again, if the other did not wait yet
            store.advance(Duration.ofSeconds(1));
            return there.roles.contains("granted");
        });
        assertThat(here.context.isLeader()).isFalse();
        assertThat(here.roles).endsWith("granted", "revoked");
        second.stop();
        there.awaitTold("granted", "revoked");
        await().atMost(TIMEOUT).until(() -> {
            store.advance(Duration.ofSeconds(1));
            return first.getContext().isLeader();
        });
        first.destroy();
        assertThat(first.isRunning()).isFalse();
        assertThat(here.roles).endsWith("granted", "revoked");
        store.assertFree(ELECTION);
    }

    @Test
    @DisplayName("that have lost their term are told, and stand again")
    void loseTerm(Holdfast holdfast, TestStore store) {
        Notes notes = new Notes("here");
        HoldfastLeaderInitiator initiator = new HoldfastLeaderInitiator(holdfast, notes);
        initiator.start();
        notes.awaitTold("granted");
        store.loseLock(ELECTION);
        assertThat(notes.context.isLeader()).isFalse();
        notes.awaitTold("granted", "revoked");
        await().atMost(TIMEOUT).until(() -> {
            store.advance(Duration.ofSeconds(1)); // the pause before it stands again
            return notes.roles.size() == 3;
        });
        initiator.stop();
    }

    @Test
    @DisplayName("that lead on the thread that tells them are interrupted")
    void interruptsLeaders(Holdfast holdfast, TestStore store) throws Exception {
        CountDownLatch leads = new CountDownLatch(1);
        Notes busy = new Notes("busy") {
            @Override
            public void onGranted(Context ctx) throws InterruptedException {
                super.onGranted(ctx);
                leads.countDown();
                Thread.sleep(Duration.ofDays(1).toMillis());
            }
        };
        HoldfastLeaderInitiator initiator = new HoldfastLeaderInitiator(holdfast, busy);
        initiator.start();
        assertThat(leads.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        initiator.stop();
        busy.awaitTold("granted", "revoked");
        store.assertFree(ELECTION);
    }

    @Test
    @DisplayName("are beans that start and stop with their context, and tell it by events")
    void publishesEvents(Holdfast holdfast, TestStore store) {
        List<AbstractLeaderEvent> events = new CopyOnWriteArrayList<>();
        try (GenericApplicationContext context = new GenericApplicationContext()) {
            context.registerBean(
                    HoldfastLeaderInitiator.class,
                    () -> new HoldfastLeaderInitiator(holdfast, new DefaultCandidate("here", "scheduler")));
            context.addApplicationListener(event -> {
                if (event instanceof AbstractLeaderEvent leader) {
                    events.add(leader);
                }
            });
            context.refresh();
            await().atMost(TIMEOUT).until(() -> events.size() == 1);
            assertThat(events.get(0)).isInstanceOf(OnGrantedEvent.class);
            assertThat(events.get(0).getRole()).isEqualTo("scheduler");
            assertThat(events.get(0).getContext().isLeader()).isTrue();
        }
        assertThat(events).hasSize(2);
        assertThat(events.get(1)).isInstanceOf(OnRevokedEvent.class);
        store.assertFree(ELECTION);
    }

    @Test
    @DisplayName("say that the store can't be asked, if they are to")
    void publishesFailures(Holdfast holdfast, TestStore store) {
        List<Object> events = new CopyOnWriteArrayList<>();
        HoldfastLeaderInitiator initiator = new HoldfastLeaderInitiator(holdfast, new Notes("here"));
        initiator.setApplicationEventPublisher(events::add);
        initiator.setPublishFailedEvents(true);
        store.goDown();
        initiator.start();
        await().atMost(TIMEOUT).until(() -> {
            store.advance(Duration.ofSeconds(1));
            return !events.isEmpty();
        });
        assertThat(events.get(0)).isInstanceOf(OnFailedToAcquireMutexEvent.class);
        store.recover();
        initiator.stop();
    }

    // ---- Of Spring Integration, on the registry

    @Test
    @DisplayName("of Spring Integration that have lost their lock find that at the next beat, and are elected again")
    void leaderOnRegistry(Holdfast holdfast, TestStore store) {
        Notes notes = new Notes("here");
        LockRegistryLeaderInitiator initiator =
                new LockRegistryLeaderInitiator(new HoldfastLockRegistry(holdfast), notes);
        initiator.setApplicationEventPublisher(event -> {});
        initiator.setHeartBeatMillis(10);
        initiator.setBusyWaitMillis(10);
        initiator.start();
        notes.awaitTold("granted");
        store.loseLock(HoldfastLockRegistry.DEFAULT_PREFIX + "scheduler");
        notes.awaitTold("granted", "revoked", "granted");
        initiator.stop();
        notes.awaitTold("granted", "revoked", "granted", "revoked");
        store.assertFree(HoldfastLockRegistry.DEFAULT_PREFIX + "scheduler");
    }
}
