package dev.holdfast.engine.election;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.spi.ResourceName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/*
 * Only one campaign of this client at a time competes for a name, from its wait to the end of its term. If several did,
 * the grant would be handed over between them in memory, and the store, and with it every observer, would not know of
 * the new leader and the new term.
 */

/**
 * The campaigns and observers of a client. Keeps only the names in use. Thread-safe; calls nothing outside of this
 * class under its lock.
 */
public final class Elections {

    private final ClientContext context;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Set<EngineCampaign> campaigns = new LinkedHashSet<>();

    @GuardedBy("lock")
    private final Map<ResourceName, Deque<EngineCampaign>> queues = new HashMap<>();

    @GuardedBy("lock")
    private final Map<ResourceName, Set<LeaderPoller>> pollers = new HashMap<>();

    @GuardedBy("lock")
    private boolean isShut;

    public Elections(ClientContext context) {
        this.context = context;
    }

    /** Registers a new campaign. */
    void add(EngineCampaign campaign) {
        lock.lock();
        try {
            requireOpen();
            campaigns.add(campaign);
        } finally {
            lock.unlock();
        }
    }

    void remove(EngineCampaign campaign) {
        lock.lock();
        try {
            campaigns.remove(campaign);
        } finally {
            lock.unlock();
        }
    }

    /** Queues a campaign behind those of this client that compete for its name. */
    void stand(EngineCampaign campaign) {
        boolean isFirst;
        lock.lock();
        try {
            Deque<EngineCampaign> queue = queues.computeIfAbsent(campaign.name, name -> new ArrayDeque<>(1));
            isFirst = queue.isEmpty();
            queue.add(campaign);
        } finally {
            lock.unlock();
        }
        if (isFirst) {
            campaign.ask();
        }
    }

    /** A campaign no longer competes: the next one may. Does nothing if it did not compete. */
    void standDown(EngineCampaign campaign) {
        EngineCampaign next = null;
        lock.lock();
        try {
            Deque<EngineCampaign> queue = queues.get(campaign.name);
            if (queue == null) {
                return;
            }
            boolean wasFirst = queue.peek() == campaign;
            queue.remove(campaign);
            if (queue.isEmpty()) {
                queues.remove(campaign.name);
            } else if (wasFirst) {
                next = queue.peek();
            }
        } finally {
            lock.unlock();
        }
        if (next != null) {
            next.ask();
        }
    }

    void add(LeaderPoller poller) {
        lock.lock();
        try {
            requireOpen();
            pollers.computeIfAbsent(poller.name, name -> new HashSet<>(1)).add(poller);
        } finally {
            lock.unlock();
        }
    }

    void remove(LeaderPoller poller) {
        lock.lock();
        try {
            Set<LeaderPoller> others = pollers.get(poller.name);
            if (others != null && others.remove(poller) && others.isEmpty()) {
                pollers.remove(poller.name);
            }
        } finally {
            lock.unlock();
        }
    }

    /** A term of this client has begun or ended: its own observers need not wait for their next poll. */
    void pollNow(ResourceName name) {
        List<LeaderPoller> notified;
        lock.lock();
        try {
            notified = List.copyOf(pollers.getOrDefault(name, Set.of()));
        } finally {
            lock.unlock();
        }
        notified.forEach(LeaderPoller::pollNow);
    }

    /** The client is closed. */
    public void shut() {
        List<EngineCampaign> openCampaigns;
        List<LeaderPoller> openPollers = new ArrayList<>();
        lock.lock();
        try {
            isShut = true;
            openCampaigns = List.copyOf(campaigns);
            pollers.values().forEach(openPollers::addAll);
        } finally {
            lock.unlock();
        }
        openCampaigns.forEach(EngineCampaign::shut);
        openPollers.forEach(LeaderPoller::close);
    }

    /** Whether there is neither a campaign nor an observer. */
    public boolean isEmpty() {
        lock.lock();
        try {
            return campaigns.isEmpty() && queues.isEmpty() && pollers.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void requireOpen() {
        if (isShut) {
            throw context.failures().closed();
        }
    }
}
