package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Groups holders and waiters by session: silent ones first. */
final class SeenSessions {

    /** A session that holds or waits. Valid while the {@link SeenStore} doesn't change. */
    static final class Session {
        private final String id;
        private final String label;
        private final List<String> holds = new ArrayList<>();
        private final List<String> waits = new ArrayList<>();
        private final List<SeenLease> leases = new ArrayList<>();

        private Session(String id, String label) {
            this.id = id;
            this.label = label;
        }

        String id() {
            return id;
        }

        String label() {
            return label;
        }

        List<String> holds() {
            return holds;
        }

        List<String> waits() {
            return waits;
        }

        /** Whether a lease of this session drains and none is renewed; those of a fixed length show nothing. */
        boolean isSilent() {
            return has(SeenLease.State.DRAINING) && !has(SeenLease.State.RENEWED);
        }

        private boolean has(SeenLease.State state) {
            return leases.stream().anyMatch(lease -> lease.state() == state);
        }

        /** The state of the lease that was renewed last. */
        SeenLease.State state() {
            return isSilent()
                    ? SeenLease.State.DRAINING
                    : has(SeenLease.State.RENEWED) ? SeenLease.State.RENEWED : SeenLease.State.UNKNOWN;
        }

        Duration silence(Instant now) {
            return leases.stream()
                    .map(lease -> lease.silence(now))
                    .min(Comparator.naturalOrder())
                    .orElse(Duration.ZERO);
        }

        Duration left(Instant now) {
            return leases.stream()
                    .map(lease -> lease.left(now))
                    .max(Comparator.naturalOrder())
                    .orElse(Duration.ZERO);
        }

        Duration ttl() {
            return leases.stream()
                    .map(SeenLease::length)
                    .min(Comparator.naturalOrder())
                    .orElse(Duration.ZERO);
        }
    }

    private SeenSessions() {}

    static List<Session> of(Collection<SeenLock> locks, Instant now) {
        Map<String, Session> sessions = new LinkedHashMap<>();
        List<SeenLock> inUse = locks.stream()
                .filter(lock -> lock.info().isInUse())
                .sorted(Comparator.comparing(SeenLock::name))
                .toList();
        for (SeenLock lock : inUse) {
            for (LockInfo.Holder holder : lock.info().holders()) {
                Session session = sessions.computeIfAbsent(holder.session(), id -> new Session(id, holder.label()));
                session.holds.add(lock.name());
                session.leases.add(lock.lease(holder));
            }
            for (LockInfo.Waiter waiter : lock.info().waiters()) {
                Session session = sessions.computeIfAbsent(waiter.session(), id -> new Session(id, waiter.label()));
                session.waits.add(lock.name());
                if (!waiter.sessionTtl().isZero()) {
                    session.leases.add(SeenLease.ofSession(waiter.leaseLeft(), waiter.sessionTtl(), lock.readAt()));
                }
            }
        }
        return sessions.values().stream()
                .sorted(Comparator.comparing((Session session) -> !session.isSilent())
                        .thenComparing(session -> session.holds().size(), Comparator.reverseOrder())
                        .thenComparing(Session::label)
                        .thenComparing(Session::id))
                .toList();
    }
}
