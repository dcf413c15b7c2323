package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.zookeeper.client.Node;
import dev.holdfast.store.zookeeper.client.Requests;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The mail of this client's sessions. Each piece is a child of its session's mailbox, which the write that it reports
 * creates. ZooKeeper numbers them, and the client removes them some time after reading. So none is lost if several come
 * at once, or without a connection. A short piece needs no read, because {@linkplain MailOperations its write} also
 * puts it into the name of a node.
 *
 * <p><b>Thread-safety:</b> safe.
 */
final class Mailboxes {

    /** How many pieces one write removes, and how long the first of them may wait for others. */
    private static final int BATCH = 64;

    private static final long BATCH_MILLIS = 1_000;

    /** Has no mailbox. */
    private static final SessionId NOBODY = new SessionId("nobody");

    private static final Logger LOG = LoggerFactory.getLogger(Mailboxes.class);

    /** Receives each piece of mail, with the version of the record that was written with it. */
    interface Receiver {
        void delivered(SessionId session, byte[] mail, RecordVersion record);
    }

    private final NodeLayout layout;
    private final Requests requests;
    private final ScheduledExecutorService timer;
    private final Receiver delivered;
    private final Watcher watcher = this::changed;
    private final Map<SessionId, Mailbox> boxes = new ConcurrentHashMap<>();

    /** Whether the servers can watch a tree, as far as is known. */
    private volatile boolean areTreesWatched = true;

    Mailboxes(NodeLayout layout, Requests requests, ScheduledExecutorService timer, Receiver delivered) {
        this.layout = layout;
        this.requests = requests;
        this.timer = timer;
        this.delivered = delivered;
    }

    /**
     * Learns whether the servers can watch a tree, from a watch of nodes that never exist. A server that does not know
     * such watches closes the connection, so this is to be asked before anything else needs it.
     */
    CompletableFuture<Boolean> learnWhetherTreesAreWatched() {
        String path = layout.mailbox(NOBODY);
        return requests.watchTree(path, event -> {}).thenApply(done -> {
            areTreesWatched = done;
            if (done) {
                requests.unwatch(path);
            }
            return done;
        });
    }

    void open(SessionId id) {
        Mailbox box = new Mailbox(id);
        boxes.put(id, box);
        box.poll();
    }

    void close(SessionId id) {
        Mailbox box = boxes.remove(id);
        if (box != null && box.isWatched) {
            requests.unwatch(layout.mailbox(id));
        }
    }

    void connected() {
        boxes.values().forEach(Mailbox::poll);
    }

    /** Repeats reads that got no answer in time: no watch would report that mail again. */
    void retry() {
        boxes.values().stream().filter(box -> box.hasFailed).forEach(Mailbox::poll);
    }

    /** On the event thread of the handle, as the answers to reads. */
    private void changed(WatchedEvent event) {
        String path = event.getPath();
        if (event.getType() == EventType.None) {
            if (event.getState() != KeeperState.SyncConnected) {
                boxes.values().forEach(Mailbox::interrupted);
            }
        } else if (event.getType() == EventType.NodeChildrenChanged) {
            box(path).ifPresent(Mailbox::poll);
        } else if (event.getType() == EventType.NodeCreated) {
            int end = path.lastIndexOf('/');
            box(path.substring(0, end)).ifPresent(box -> box.created(path.substring(end + 1)));
        }
    }

    private Optional<Mailbox> box(String path) {
        return Optional.ofNullable(boxes.get(NodeLayout.sessionOfMailbox(path)));
    }

    /** Orders mail by ZooKeeper's 32-bit number. It may overflow, so the sign of the difference counts. */
    private static final Comparator<String> ORDER = (a, b) -> Integer.compare(number(a) - number(b), 0);

    private static int number(String name) {
        return Integer.parseInt(name.substring(1));
    }

    private final class Mailbox {
        private final SessionId id;

        // Guarded by this.
        private boolean isPolling;
        private boolean isToPollAgain;
        private boolean isRemovalScheduled;
        private boolean isRemoving;

        /**
         * Whether all mail before the next event was delivered. Not while mail is read, nor after a failed read, nor
         * from a disconnect until the next read: its events may be lost.
         */
        private boolean isCurrent;

        /** The next piece that is created was delivered, with the event of the node before it. */
        private boolean isNextDelivered;

        /** Whether the latest read failed. */
        private volatile boolean hasFailed;

        /** Whether its tree is watched. */
        private volatile boolean isWatched;

        /** The delivered pieces that are not known to be removed. */
        private final Set<String> read = new HashSet<>();

        Mailbox(SessionId id) {
            this.id = id;
        }

        /** Reads new mail, with one read at a time, so that it is delivered in order. */
        void poll() {
            synchronized (this) {
                isToPollAgain = isPolling;
                if (isPolling) {
                    return;
                }
                isPolling = true;
                isCurrent = false;
                isNextDelivered = false;
                hasFailed = false;
            }
            Requests.ignoreOutcome(
                    arm().thenCompose(done -> requests.children(layout.mailbox(id), isWatched ? null : watcher))
                            .thenCompose(names -> fetch(names.orElse(List.of())))
                            .whenComplete((fetched, failure) -> polled(failure != null)));
        }

        /** Watches the tree, unless that was done before or the servers can't. */
        private CompletableFuture<Boolean> arm() {
            if (isWatched || !areTreesWatched) {
                return CompletableFuture.completedFuture(isWatched);
            }
            return requests.watchTree(layout.mailbox(id), watcher).thenApply(done -> {
                isWatched = done;
                areTreesWatched = done;
                if (done && boxes.get(id) != this) {
                    // Closed meanwhile, perhaps before this watch was known.
                    requests.unwatch(layout.mailbox(id));
                }
                return done;
            });
        }

        /** Delivers the content of the next piece, or reads a piece that was created without its content. */
        void created(String name) {
            Optional<byte[]> content = NodeLayout.mailContent(name);
            boolean isRead;
            synchronized (this) {
                // What comes after mail that is still to be read has to wait, in order to be delivered after it.
                isRead = isNextDelivered && isCurrent;
                isNextDelivered = content.isPresent() && isCurrent;
                content = isNextDelivered ? content : Optional.empty();
            }
            if (content.isPresent()) {
                deliver(content.get());
            } else if (NodeLayout.isMail(name) && isRead) {
                delivered(List.of(name));
            } else if (NodeLayout.isMail(name)) {
                poll();
            }
        }

        /** Notes that events may be lost, and a read in flight may be older than they are. */
        synchronized void interrupted() {
            isCurrent = false;
            isNextDelivered = false;
            isToPollAgain |= isPolling;
        }

        private void polled(boolean isFailed) {
            boolean again;
            synchronized (this) {
                isPolling = false;
                hasFailed = isFailed;
                again = isToPollAgain;
                isCurrent = !isFailed && !again;
            }
            if (again) {
                poll();
            }
        }

        private CompletableFuture<Boolean> fetch(List<String> names) {
            List<String> fresh;
            synchronized (this) {
                read.retainAll(names);
                fresh = names.stream()
                        .filter(NodeLayout::isMail)
                        .filter(name -> !read.contains(name))
                        .sorted(ORDER)
                        .toList();
            }
            List<CompletableFuture<Optional<Node>>> pieces = fresh.stream()
                    .map(name -> requests.get(layout.mailbox(id) + '/' + name, null))
                    .toList();
            return CompletableFuture.allOf(pieces.toArray(CompletableFuture[]::new))
                    .thenApply(all -> {
                        pieces.forEach(piece -> piece.join().ifPresent(node -> deliver(node.data())));
                        if (!fresh.isEmpty()) {
                            delivered(fresh);
                        }
                        return true;
                    });
        }

        private void deliver(byte[] data) {
            NodeData.Mail mail;
            try {
                mail = NodeData.mail(layout.mailbox(id), data);
            } catch (StoreException e) {
                LOG.warn("mail of session {} was discarded", id, e);
                return;
            }
            delivered.delivered(id, mail.content(), mail.record());
        }

        private void delivered(List<String> names) {
            synchronized (this) {
                read.addAll(names);
            }
            removeSoon();
        }

        private void removeSoon() {
            boolean isFull;
            boolean isFirst;
            synchronized (this) {
                isFull = read.size() >= BATCH;
                isFirst = !read.isEmpty() && !isRemovalScheduled;
                isRemovalScheduled |= isFirst;
            }
            if (isFull) {
                remove();
            } else if (isFirst) {
                try {
                    var unused = timer.schedule(this::remove, BATCH_MILLIS, TimeUnit.MILLISECONDS);
                } catch (RejectedExecutionException e) {
                    // Closed: the mail ends with the session.
                }
            }
        }

        /** Removes some of what was delivered, by one write at a time: nothing may be removed twice. */
        private void remove() {
            List<String> names;
            synchronized (this) {
                isRemovalScheduled = false;
                if (isRemoving || read.isEmpty()) {
                    return;
                }
                isRemoving = true;
                names = read.stream().limit(BATCH).toList();
            }
            List<Op> removals = names.stream()
                    .map(name -> Op.delete(layout.mailbox(id) + '/' + name, -1))
                    .toList();
            Requests.ignoreOutcome(requests.multi(removals)
                    .whenComplete((done, failure) -> removed(names, failure == null && done.isPresent())));
        }

        private void removed(List<String> names, boolean isDone) {
            synchronized (this) {
                isRemoving = false;
                if (isDone) {
                    names.forEach(read::remove);
                }
            }
            if (isDone) {
                removeSoon();
            } else if (boxes.get(id) == this) {
                // Some may be gone already. The next mail repeats this for those that are listed.
                poll();
            }
        }
    }
}
