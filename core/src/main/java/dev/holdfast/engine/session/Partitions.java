package dev.holdfast.engine.session;

import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceName;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The partitions of the store that this client has used so far. Thread-safe. */
public final class Partitions {

    public final ClientContext context;
    private final LockStore store;
    private final AtomicReferenceArray<Partition> partitions;
    /** Set once, before the first command. */
    private volatile List<SessionUser> users = List.of();

    public Partitions(ClientContext context, LockStore store) {
        this.context = context;
        this.store = store;
        this.partitions = new AtomicReferenceArray<>(store.partitions());
    }

    /** Names the users of the sessions; once, before the first command. */
    public void serve(SessionUser... all) {
        users = List.of(all);
    }

    /** The users of the sessions, in the order of their notification. */
    List<SessionUser> users() {
        return users;
    }

    /** How many the store has. */
    public int count() {
        return partitions.length();
    }

    /** Whether the store has more than one. */
    public boolean areSeveral() {
        return partitions.length() > 1;
    }

    /** The number of the partition of a name. */
    public int numberOf(ResourceName name) {
        return areSeveral() ? store.partitionOf(name) : 0;
    }

    /** The partition of a name. */
    public Partition of(ResourceName name) {
        return at(numberOf(name));
    }

    public Partition at(int number) {
        Partition partition = partitions.get(number);
        return partition == null ? make(number) : partition;
    }

    private Partition make(int number) {
        Partition fresh = new Partition(context, store, number, areSeveral(), this::users);
        if (!partitions.compareAndSet(number, null, fresh)) {
            return partitions.get(number);
        }
        if (context.isClosing()) {
            // The close may have missed it.
            var unused = fresh.shut();
            var unusedEnd = fresh.endClose(null);
        }
        return fresh;
    }

    /** Those that were used. */
    public List<Partition> used() {
        List<Partition> used = new ArrayList<>();
        for (int i = 0; i < partitions.length(); i++) {
            Partition partition = partitions.get(i);
            if (partition != null) {
                used.add(partition);
            }
        }
        return used;
    }
}
