package dev.holdfast.store.etcd;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.etcd.rpc.EtcdClient;
import dev.holdfast.store.etcd.rpc.WatchResponse;
import dev.holdfast.store.etcd.rpc.WatchStream;
import dev.holdfast.store.register.RegisterListener;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The watches of a client, all on one stream: for the ends of its sessions and leases and of those of others, and for
 * its mailboxes. They begin at the present; earlier changes are read once, after they have begun. A stream that breaks,
 * or does not answer a probe, is replaced, and the listener is notified of what may have been missed.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; none blocks. The listener is called without a
 * lock.
 */
final class EtcdWatches implements WatchStream.Listener {

    private static final Logger LOG = LoggerFactory.getLogger(EtcdWatches.class);

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final int MOST_DOUBLINGS = 6;

    /** While its connection answers other requests, the stream itself is probed once in this many times. */
    private static final int PROBED_ONCE_IN = 12;

    /** After this many due probes without such an answer, the stream is probed each time. */
    private static final int QUIET = 3;

    private final EtcdClient client;
    private final KeyLayout keys;
    private final EtcdSessions sessions;
    private final StoreThreads threads;
    private final RegisterListener listener;

    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by the lock.
    private final Map<SessionId, Watched> watched = new HashMap<>();
    private final Map<Long, Watch> watches = new HashMap<>();
    private final Queue<Runnable> notifications = new ArrayDeque<>();
    private @Nullable WatchStream stream;
    private boolean isOpening;
    private boolean isClosed;
    private boolean hasMissed;
    private boolean isAnswering;
    private boolean isReading;
    private int unprobed;
    private int quiet = QUIET;
    private long lastWatch;
    private int failures;

    EtcdWatches(
            EtcdClient client, KeyLayout keys, EtcdSessions sessions, StoreThreads threads, RegisterListener listener) {
        this.client = client;
        this.keys = keys;
        this.sessions = sessions;
        this.threads = threads;
        this.listener = listener;
        client.whenReplaced(() -> guarded(this::loseAll));
        probeLater();
    }

    /** A watched session or lease. */
    private static final class Watched {
        final SessionId session;
        final boolean hasMailbox;
        final CompletableFuture<Void> began = new CompletableFuture<>();
        boolean isOwn;
        boolean isOfOthers;

        /** Whether it was read after its watches had begun. */
        boolean wasRead;

        /** How many of its watches the server has not yet confirmed. */
        int awaited;

        Watched(SessionId session, boolean hasMailbox) {
            this.session = session;
            this.hasMailbox = hasMailbox;
        }
    }

    /** A watch of the present stream. */
    private record Watch(Watched what, boolean isMailbox) {}

    /** Watches a session of this client, or a lease; completes when the watch has begun, or after a time-out. */
    CompletionStage<Void> addOwn(SessionId session, boolean hasMailbox) {
        Watched added = new Watched(session, hasMailbox);
        added.isOwn = true;
        guarded(() -> {
            Watched before = watched.put(session, added);
            if (before != null) {
                added.isOfOthers = before.isOfOthers;
                end(before);
            }
            begin(added);
        });
        return added.began.copy().completeOnTimeout(null, client.timeout().toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Replaces the watched sessions of others. */
    void setOthers(Set<SessionId> others) {
        guarded(() -> {
            for (Watched present : List.copyOf(watched.values())) {
                present.isOfOthers = others.contains(present.session);
                if (!present.isOwn && !present.isOfOthers) {
                    watched.remove(present.session);
                    end(present);
                }
            }
            for (SessionId other : others) {
                if (!watched.containsKey(other)) {
                    Watched added = new Watched(other, false);
                    added.isOfOthers = true;
                    watched.put(other, added);
                    begin(added);
                }
            }
        });
    }

    void close() {
        guarded(() -> {
            isClosed = true;
            watched.values().forEach(this::completeBegun);
            endStream();
        });
    }

    /** Runs a step under the lock, and notifies the listener of its results afterwards. */
    private void guarded(Runnable step) {
        List<Runnable> due = new ArrayList<>();
        lock.lock();
        try {
            step.run();
            if (lock.getHoldCount() == 1) {
                due.addAll(notifications);
                notifications.clear();
            }
        } finally {
            lock.unlock();
        }
        due.forEach(this::report);
    }

    private void report(Runnable notification) {
        try {
            notification.run();
        } catch (RuntimeException | Error e) {
            LOG.error("store={} a listener failed", client.name(), e);
        }
    }

    // Called under the lock from here on, except the methods that the stream and the timer call.

    private void begin(Watched what) {
        WatchStream present = stream;
        if (present == null) {
            open();
            return;
        }
        what.awaited = what.hasMailbox ? 2 : 1;
        what.wasRead = false;
        long end = ++lastWatch;
        watches.put(end, new Watch(what, false));
        present.watchDeletions(end, keys.session(what.session));
        if (what.hasMailbox) {
            long mailbox = ++lastWatch;
            watches.put(mailbox, new Watch(what, true));
            present.watchPuts(mailbox, keys.mailbox(what.session));
        }
    }

    private void end(Watched what) {
        WatchStream present = stream;
        watches.entrySet().removeIf(entry -> {
            boolean isOfIt = entry.getValue().what() == what;
            if (isOfIt && present != null) {
                present.cancel(entry.getKey());
            }
            return isOfIt;
        });
        completeBegun(what);
    }

    /** Completes the stage that waits for the watch to begin, without the lock. */
    private void completeBegun(Watched what) {
        notifications.add(() -> what.began.complete(null));
    }

    private void open() {
        if (isOpening || isClosed || watched.isEmpty()) {
            return;
        }
        isOpening = true;
        var unused = client.openWatchStream(this)
                .whenComplete((opened, failure) -> guarded(() -> {
                    isOpening = false;
                    if (failure != null) {
                        openLater(String.valueOf(failure.getMessage()));
                    } else if (isClosed) {
                        opened.end();
                    } else {
                        stream = opened;
                        isAnswering = true;
                        List.copyOf(watched.values()).forEach(this::begin);
                        if (opened.hasEnded()) {
                            ended(opened, "it was rejected immediately");
                        }
                    }
                }));
    }

    private void openLater(String why) {
        if (isClosed) {
            return;
        }
        hasMissed = true;
        LOG.debug("store={} the watches are restarted: {}", client.name(), why);
        Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(failures++, MOST_DOUBLINGS));
        var unused = threads.after(
                pause,
                () -> guarded(() -> {
                    if (stream == null) {
                        open();
                    }
                }));
    }

    private void endStream() {
        WatchStream present = stream;
        stream = null;
        watches.clear();
        if (present != null) {
            present.end();
        }
    }

    private void probeLater() {
        var unused = threads.after(client.timeout(), this::probe);
    }

    private void probe() {
        probeLater();
        guarded(() -> {
            WatchStream present = stream;
            if (present == null || watches.isEmpty()) {
                return;
            }
            if (!client.isCurrent(present)) {
                endStream();
                openLater("the client switched to another member");
                return;
            }
            quiet = client.hasAnswered(present) ? 0 : quiet + 1;
            if (isAnswering && quiet < QUIET && ++unprobed < PROBED_ONCE_IN) {
                return;
            }
            unprobed = 0;
            if (isAnswering) {
                isAnswering = false;
                present.probe();
            } else {
                client.suspect(present);
                endStream();
                openLater("no answer to a probe");
            }
        });
    }

    @Override
    public void answered(WatchStream from, WatchResponse answer) {
        guarded(() -> {
            if (from == stream) {
                isAnswering = true;
                take(from, answer);
            }
        });
    }

    private void take(WatchStream from, WatchResponse answer) {
        Watch active = watches.get(answer.watchId());
        if (active == null) {
            return; // a sign of life, or an answer for an ended watch
        }
        if (answer.isCanceled()) {
            client.renewToken(from);
            endStream();
            openLater("a watch ended: " + answer.reason());
            return;
        }
        Watched what = active.what();
        if (answer.isCreated() && --what.awaited == 0) {
            failures = 0;
            readBegun();
        }
        for (WatchResponse.Event event : answer.events()) {
            if (active.isMailbox()) {
                byte[] value = event.key().value();
                long revision = event.key().modRevision();
                notifications.add(() ->
                        listener.delivered(what.session, MailValue.mail(value), MailValue.record(value, revision)));
            } else if (event.isDeletion()) {
                gone(what);
            }
        }
    }

    /** Ends all sessions of this client, because the cluster was replaced or restored. */
    private void loseAll() {
        isClosed = true;
        endStream();
        List.copyOf(watched.values()).forEach(this::gone);
    }

    private void gone(Watched what) {
        if (watched.remove(what.session, what)) {
            end(what);
            notifications.add(() -> listener.gone(what.session));
        }
    }

    /** Reads those whose watches have begun once, because they may have ended before. */
    private void readBegun() {
        Set<SessionId> begun = new HashSet<>();
        boolean isAll = true;
        for (Watched what : watched.values()) {
            if (what.awaited > 0) {
                isAll = false;
            } else if (!what.wasRead) {
                begun.add(what.session);
            }
        }
        boolean isTooEarly = hasMissed && !isAll; // all are read together, when the last has begun
        if (isReading || isTooEarly || begun.isEmpty()) {
            return;
        }
        isReading = true;
        WatchStream present = stream;
        var unused = sessions.read(begun)
                .whenComplete((living, failure) -> guarded(() -> {
                    isReading = false;
                    if (stream == present && failure == null) {
                        begun.forEach(session -> read(session, living.containsKey(session)));
                        if (hasMissed) {
                            hasMissed = false;
                            notifications.add(listener::resubscribed);
                        }
                    } else if (stream == present) {
                        endStream();
                        openLater(String.valueOf(failure.getMessage()));
                    }
                    if (stream != null) {
                        readBegun();
                    }
                }));
    }

    private void read(SessionId session, boolean lives) {
        Watched what = watched.get(session);
        if (what != null && what.awaited == 0) {
            what.wasRead = true;
            if (lives) {
                completeBegun(what);
            } else {
                gone(what);
            }
        }
    }

    @Override
    public void ended(WatchStream from, String why) {
        guarded(() -> {
            if (from == stream) {
                client.suspect(from);
                endStream();
                openLater(why);
            }
        });
    }
}
