package dev.holdfast.engine.session;

import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceName;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The parts of the store that this client has used so far. Thread-safe. */
public final class StoreParts {

    public final ClientContext context;
    private final LockStore store;
    private final AtomicReferenceArray<StorePart> parts;
    /** Set once, before the first command. */
    private volatile List<SessionUser> users = List.of();

    public StoreParts(ClientContext context, LockStore store) {
        this.context = context;
        this.store = store;
        this.parts = new AtomicReferenceArray<>(store.partitions());
    }

    /** Names the users of the sessions; once, before the first command. */
    public void serve(SessionUser... all) {
        users = List.of(all);
    }

    /** The users of the sessions, in the order in which they are told. */
    List<SessionUser> users() {
        return users;
    }

    /** How many the store has. */
    public int count() {
        return parts.length();
    }

    /** Whether the store has more than one. */
    public boolean areSeveral() {
        return parts.length() > 1;
    }

    /** The number of the part of a name. */
    public int numberOf(ResourceName name) {
        return areSeveral() ? store.partitionOf(name) : 0;
    }

    /** The part of a name. */
    public StorePart of(ResourceName name) {
        return at(numberOf(name));
    }

    public StorePart at(int number) {
        StorePart part = parts.get(number);
        return part == null ? make(number) : part;
    }

    private StorePart make(int number) {
        StorePart fresh = new StorePart(context, store, number, areSeveral(), this::users);
        if (!parts.compareAndSet(number, null, fresh)) {
            return parts.get(number);
        }
        if (context.isClosing()) {
            // The close may have looked before it was there.
            var unused = fresh.shut();
            var unusedEnd = fresh.endClose(ReleaseRetrier.Closing.CONFIRMED);
        }
        return fresh;
    }

    /** Those that were used. */
    public List<StorePart> used() {
        List<StorePart> used = new ArrayList<>();
        for (int i = 0; i < parts.length(); i++) {
            StorePart part = parts.get(i);
            if (part != null) {
                used.add(part);
            }
        }
        return used;
    }
}
