package dev.holdfast.store.memory;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.testkit.sim.SimStore;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A store as lazy as the rules allow, like a table of rows: nothing runs when a holder dies, and only a command on a
 * resource or a session detects its expiry.
 */
public final class PassiveStore implements SimStore {

    private final Lazy state = new Lazy();
    private final SimStore store = SimStore.of(new ReferenceMachine(state));

    @Override
    public StoreTraits traits() {
        return store.traits();
    }

    @Override
    public boolean isPassive() {
        return true;
    }

    @Override
    public ReferenceMachine.Outcome apply(Command command, long unixMicros) {
        state.concerned = command;
        return store.apply(command, unixMicros);
    }

    private static final class Lazy extends State {
        private Command concerned = new Command.Poll(List.of());

        @Override
        void expire() {
            Set<MemoryResource> touched = new LinkedHashSet<>();
            if (concerned instanceof Command.KeepAlive alive) {
                endIfOver(alive.session(), touched);
            } else if (concerned instanceof Command.Audit audit) {
                endIfOver(audit.session(), touched);
            } else if (concerned instanceof Command.OnResource on) {
                if (concerned instanceof Command.OnClaim claim) {
                    endIfOver(claim.claim().session(), touched);
                }
                expire(on.resource(), touched);
            } else if (concerned instanceof Command.Poll poll) {
                for (ClaimRef ref : poll.claims()) {
                    expire(ref.resource(), touched);
                }
            }
            touched.forEach(this::settle);
        }

        /** Who is admitted must live, wherever it is that this step has made room. */
        @Override
        void settle(MemoryResource resource) {
            Set<MemoryResource> touched = new LinkedHashSet<>();
            expire(resource.name, touched);
            touched.remove(resource);
            super.settle(resource);
            touched.forEach(this::settle);
        }

        private void endIfOver(SessionId id, Set<MemoryResource> touched) {
            MemorySession session = sessions.get(id);
            if (session != null && session.live && session.endsAt <= now()) {
                end(session, touched);
            }
        }

        private void expire(ResourceName name, Set<MemoryResource> touched) {
            MemoryResource resource = inUse(name);
            if (resource == null) {
                return;
            }
            List<MemoryClaim> present = new ArrayList<>(resource.grants.values());
            present.addAll(resource.queue.values());
            for (MemoryClaim claim : present) {
                endIfOver(claim.session.id, touched);
                boolean isOver = claim.hasFixedLease() && claim.pickedUp && claim.endsAt <= now();
                if (isOver && resource.grants.get(claim.ref) != null) {
                    drop(claim);
                    touched.add(resource);
                }
            }
        }
    }
}
