package dev.holdfast.store.zookeeper.adapter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.zookeeper.client.HandleSource;
import dev.holdfast.store.zookeeper.client.LeaderContact;
import dev.holdfast.store.zookeeper.client.Requests;
import dev.holdfast.store.zookeeper.client.ServerClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.AsyncCallback.ChildrenCallback;
import org.apache.zookeeper.AsyncCallback.DataCallback;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.AsyncCallback.VoidCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How mail is read and watched, with a handle whose answers and events the test sends. */
class MailboxesTest {

    private static final SessionId SESSION = new SessionId("1-0");
    private static final NodeLayout LAYOUT = new NodeLayout("/locks");
    private static final String MAILBOX = LAYOUT.mailbox(SESSION);

    private final List<String> delivered = new ArrayList<>();
    private final Map<String, byte[]> nodes = new TreeMap<>();

    /** The answers that the test holds back. */
    private final List<Runnable> held = new ArrayList<>();

    /** The names in each write that removes some. */
    private final List<List<String>> removals = new ArrayList<>();

    private boolean isLent;
    private boolean isHeld;
    private Code watchAnswer = Code.OK;
    private Code listAnswer = Code.OK;
    private int watchRequests;
    private int lists;
    private @Nullable Watcher treeWatcher;
    private @Nullable Watcher childWatcher;

    private final Mailboxes mailboxes = mailboxes(new ScriptedSource());

    private Mailboxes mailboxes(HandleSource source) {
        LeaderContact contact = new LeaderContact(Optional.empty(), () -> 0, () -> 0);
        contact.sessionOpening(0);
        contact.connected(Duration.ofMinutes(1));
        Requests requests = new Requests(
                source,
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                Duration.ofSeconds(1),
                () -> 0,
                new ServerClock(() -> 0, () -> 0),
                contact);
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
        timer.shutdown(); // so mail is removed when there is much of it, and not after some time
        return new Mailboxes(
                LAYOUT, requests, timer, (session, mail, record) -> delivered.add(new String(mail, UTF_8)));
    }

    private final class ScriptedSource implements HandleSource {
        private final ZooKeeper handle;

        ScriptedSource() {
            try {
                handle = new ScriptedHandle();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void start(Listener listener, Duration connectTimeout) {}

        @Override
        public ZooKeeper handle() {
            return handle;
        }

        @Override
        public void maintain(long now) {}

        @Override
        public Duration sessionTimeout() {
            return Duration.ofMinutes(1);
        }

        @Override
        public int packetBuffer() {
            return 0;
        }

        @Override
        public boolean isLent() {
            return isLent;
        }

        @Override
        public void close() {}
    }

    /** Its connection is closed, because the requests of the mailboxes don't use it. */
    @SuppressWarnings("try") // that close may be interrupted
    private final class ScriptedHandle extends ZooKeeper {
        ScriptedHandle() throws IOException {
            super("127.0.0.1:1", 1_000, event -> {});
            getTestable().injectSessionExpiration();
        }

        @Override
        public States getState() {
            return States.CONNECTED;
        }

        @Override
        public void addWatch(String path, Watcher watcher, AddWatchMode mode, VoidCallback callback, Object context) {
            watchRequests++;
            Code code = watchAnswer;
            answer(() -> {
                if (code == Code.OK) {
                    treeWatcher = watcher;
                }
                callback.processResult(code.intValue(), path, context);
            });
        }

        @Override
        public void removeAllWatches(
                String path, WatcherType type, boolean local, VoidCallback callback, Object context) {
            assertThat(path).isEqualTo(MAILBOX);
            treeWatcher = null;
        }

        @Override
        public void getChildren(
                String path, @Nullable Watcher watcher, ChildrenCallback callback, @Nullable Object context) {
            lists++;
            childWatcher = watcher;
            Code code = listAnswer;
            List<String> names = List.copyOf(nodes.keySet());
            answer(() -> callback.processResult(code.intValue(), path, context, names));
        }

        @Override
        public void getData(String path, @Nullable Watcher watcher, DataCallback callback, @Nullable Object context) {
            byte[] data = nodes.get(path.substring(MAILBOX.length() + 1));
            callback.processResult(Code.OK.intValue(), path, context, data, new Stat());
        }

        @Override
        public void multi(Iterable<Op> operations, MultiCallback callback, @Nullable Object context) {
            List<String> names = new ArrayList<>();
            operations.forEach(removal -> names.add(removal.getPath().substring(MAILBOX.length() + 1)));
            removals.add(names);
            boolean isDone = nodes.keySet().containsAll(names);
            if (isDone) {
                nodes.keySet().removeAll(names);
            }
            Code code = isDone ? Code.OK : Code.NONODE;
            answer(() -> callback.processResult(code.intValue(), MAILBOX, context, List.of()));
        }

        private void answer(Runnable answer) {
            if (isHeld) {
                held.add(answer);
            } else {
                answer.run();
            }
        }
    }

    private void release() {
        isHeld = false;
        List<Runnable> answers = List.copyOf(held);
        held.clear();
        answers.forEach(Runnable::run);
    }

    private static void send(@Nullable Watcher watcher, EventType type, KeeperState state, @Nullable String path) {
        assertThat(watcher).isNotNull();
        watcher.process(new WatchedEvent(type, state, path));
    }

    private void connection(KeeperState state) {
        send(treeWatcher, EventType.None, state, null);
    }

    private static String node(int number) {
        return String.format("m%010d", number);
    }

    private static byte[] data(int number) {
        return NodeData.mail(
                new RecordVersion(1, number), String.valueOf(number).getBytes(UTF_8));
    }

    /** Writes mail of which no event arrives. */
    private void writeUnseen(int number) {
        nodes.put(node(number), data(number));
    }

    private void write(int number) {
        writeUnseen(number);
        created(LAYOUT.mailContent(SESSION, data(number)));
        created(MAILBOX + '/' + node(number));
    }

    private void created(String path) {
        send(treeWatcher, EventType.NodeCreated, KeeperState.SyncConnected, path);
    }

    @Test
    void shortMailIsNotRead() {
        mailboxes.open(SESSION);
        write(1);
        write(2);
        assertThat(delivered).containsExactly("1", "2");
        assertThat(lists).isEqualTo(1);
    }

    @Test
    void mailIsRemovedOnce() {
        mailboxes.open(SESSION);
        for (int number = 0; number < 200; number++) {
            // Answers come after several more pieces.
            isHeld = true;
            write(number);
            if (number % 10 == 9) {
                release();
            }
        }
        assertThat(removals).hasSize(3).allMatch(names -> names.size() == 64);
        assertThat(nodes).hasSize(200 - 3 * 64);
        assertThat(delivered).hasSize(200);
    }

    @Test
    void removalThatFailsIsRepeatedForWhatIsLeft() {
        mailboxes.open(SESSION);
        for (int number = 0; number < 63; number++) {
            write(number);
        }
        nodes.remove(node(5)); // by a removal whose answer was lost
        write(63);
        assertThat(removals).hasSize(1);
        write(64);
        assertThat(nodes).isEmpty();
        assertThat(removals).hasSize(2);
        assertThat(delivered).hasSize(65);
    }

    @ParameterizedTest
    @EnumSource(
            value = Code.class,
            names = {"UNIMPLEMENTED", "MARSHALLINGERROR"})
    void serverWithoutTreeWatchesReportsThatAMailboxHasChanged(Code answer) {
        watchAnswer = answer;
        mailboxes.open(SESSION);
        mailIsReadWhenAMailboxHasChanged();
        assertThat(watchRequests).as("requests for a watch of a tree").isEqualTo(1);
    }

    @Test
    void lentConnectionIsNotAskedForATreeWatch() {
        isLent = true;
        mailboxes.open(SESSION);
        mailIsReadWhenAMailboxHasChanged();
        assertThat(watchRequests).as("requests for a watch of a tree").isZero();
    }

    private void mailIsReadWhenAMailboxHasChanged() {
        for (int number = 1; number <= 2; number++) {
            writeUnseen(number);
            send(childWatcher, EventType.NodeChildrenChanged, KeeperState.SyncConnected, MAILBOX);
        }
        assertThat(delivered).containsExactly("1", "2");
    }

    @Test
    void watchEndsWithItsSession() {
        mailboxes.open(SESSION);
        assertThat(treeWatcher).isNotNull();
        mailboxes.close(SESSION);
        assertThat(treeWatcher).isNull();
    }

    @Test
    void watchThatIsAnsweredAfterTheEndOfItsSessionEnds() {
        isHeld = true;
        mailboxes.open(SESSION);
        mailboxes.close(SESSION);
        release();
        assertThat(watchRequests).isEqualTo(1);
        assertThat(treeWatcher).isNull();
    }

    @Test
    void mailAfterADisconnectWaitsForWhatWasMissed() {
        mailboxes.open(SESSION);
        write(1);
        connection(KeeperState.Disconnected);
        writeUnseen(2);
        connection(KeeperState.SyncConnected);
        write(3);
        write(4);
        assertThat(delivered).containsExactly("1", "2", "3", "4");
        assertThat(lists).as("lists: at first, and for 3").isEqualTo(2);
    }

    @Test
    void mailAfterAFailedReadWaitsForWhatWasMissed() {
        mailboxes.open(SESSION);
        connection(KeeperState.Disconnected);
        writeUnseen(1);
        connection(KeeperState.SyncConnected);
        listAnswer = Code.OPERATIONTIMEOUT;
        mailboxes.connected();
        created(LAYOUT.mailContent(SESSION, data(2)));
        assertThat(delivered).isEmpty();
        listAnswer = Code.OK;
        writeUnseen(2);
        mailboxes.retry();
        assertThat(delivered).containsExactly("1", "2");
    }

    @Test
    void readThatBeganBeforeADisconnectIsRepeated() {
        mailboxes.open(SESSION);
        isHeld = true;
        mailboxes.connected();
        writeUnseen(1);
        connection(KeeperState.Disconnected);
        release();
        assertThat(delivered).containsExactly("1");
        assertThat(lists).isEqualTo(3);
    }

    /** The event of the piece itself is lost, and the next event is that of another piece. */
    @Test
    void pieceWhoseContentCameBeforeADisconnectDoesNotHideTheNext() {
        mailboxes.open(SESSION);
        created(LAYOUT.mailContent(SESSION, data(1)));
        writeUnseen(1);
        connection(KeeperState.Disconnected);
        writeUnseen(2);
        created(MAILBOX + '/' + node(2));
        assertThat(delivered).contains("2");
    }
}
