package dev.holdfast.store.memory;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.CountDown;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Resize;
import dev.holdfast.spi.Command.SetCount;
import dev.holdfast.spi.Command.ShrinkTo;
import dev.holdfast.spi.Command.Yield;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.store.memory.BrokenStores.Twisted;
import dev.holdfast.store.memory.ReferenceMachine.Outcome;
import dev.holdfast.testkit.sim.SimStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Stores of which each breaks one rule that only readers, permits, latches, elections or lasting leases can show. */
public final class BrokenPrimitives {

    private BrokenPrimitives() {}

    // ---- Readers and permits

    /** Admits a reader next to a writer. */
    public static SimStore readerBesideWriter() {
        return BrokenStores.of(new State() {
            @Override
            boolean grant(MemoryClaim claim) {
                boolean isGranted = super.grant(claim);
                if (isGranted && claim.weight == Integer.MAX_VALUE) {
                    claim.resource.heldWeight--;
                }
                return isGranted;
            }
        });
    }

    /** Counts every holder of permits as one permit. */
    public static SimStore weightIgnored() {
        return BrokenStores.of(new State() {
            @Override
            boolean grant(MemoryClaim claim) {
                boolean isGranted = super.grant(claim);
                if (isGranted && claim.resource.declared.kind() == Kind.SEMAPHORE) {
                    claim.resource.heldWeight -= claim.weight - 1;
                }
                return isGranted;
            }
        });
    }

    /** Readers go past writers that wait. */
    public static SimStore readersFirst() {
        return BrokenStores.of(new State() {
            @Override
            void settle(MemoryResource resource) {
                List<MemoryClaim> writers = new ArrayList<>(resource.queue.values());
                writers.removeIf(claim -> claim.weight == 1);
                writers.forEach(claim -> {
                    resource.queue.remove(claim.ref);
                    resource.queue.put(claim.ref, claim);
                });
                super.settle(resource);
            }
        });
    }

    /** When there are fewer permits, those who have too many lose them. */
    public static SimStore fewerPermitsRevoke() {
        return new Twisted() {
            @Override
            Outcome twist(Command command, long micros) {
                Outcome outcome = straight(command, micros);
                if (command instanceof Resize resize && outcome.reply() instanceof Reply.Done) {
                    long left = resize.capacity();
                    for (ResourceInfo.Party party : holders(this, resize, micros)) {
                        left -= party.weight();
                        if (left < 0) {
                            outcome = with(straight(new Release(party.claim()), micros), outcome);
                        }
                    }
                }
                return outcome;
            }
        };
    }

    private static List<ResourceInfo.Party> holders(Twisted store, Command.OnResource of, long micros) {
        Reply look = store.straight(new Inspect(of.resource().value(), Optional.empty(), 1), micros)
                .reply();
        List<ResourceInfo> found = ((Reply.Inspected) look).resources();
        return found.isEmpty() ? List.of() : found.get(0).holders();
    }

    /** A claim for more permits than there are keeps waiting. */
    public static SimStore tooHeavyWaitersStay() {
        Resizing state = new Resizing();
        SimStore store = BrokenStores.of(state);
        return new Twisted() {
            @Override
            Outcome twist(Command command, long micros) {
                state.isResizing = command instanceof Resize;
                return store.apply(command, micros);
            }
        };
    }

    private static final class Resizing extends State {
        private boolean isResizing;

        @Override
        void drop(MemoryClaim claim) {
            if (!isResizing || claim.resource.queue.get(claim.ref) == null) {
                super.drop(claim);
            }
        }
    }

    /** Confuses what remains of a grant with what is released of it. */
    public static SimStore shrinkIsRelative() {
        return new Twisted() {
            @Override
            Outcome twist(Command command, long micros) {
                if (command instanceof ShrinkTo shrink) {
                    int left = 1;
                    for (ResourceInfo.Party party : holders(this, shrink, micros)) {
                        left = party.claim().equals(shrink.claim()) ? party.weight() - shrink.weight() : left;
                    }
                    return straight(new ShrinkTo(shrink.claim(), Math.max(1, left)), micros);
                }
                return straight(command, micros);
            }
        };
    }

    // ---- Leases that outlast

    /** A detached claim ends with its session. */
    public static SimStore detachedEndsWithSession() {
        return claiming(acquire -> acquire.lease().binding() == Lease.Binding.DETACHED
                ? with(acquire, Lease.bounded(acquire.lease().length()))
                : acquire);
    }

    // ---- Latches

    /** Who waits passes when one is still to count. */
    public static SimStore passBeforeZero() {
        return BrokenStores.of(new State() {
            @Override
            void settle(MemoryResource resource) {
                MemoryLatch latch = resource.latch;
                boolean isEarly = latch != null && latch.remaining == 1 && !resource.queue.isEmpty();
                if (isEarly) {
                    resource.latch = null;
                }
                super.settle(resource);
                if (isEarly) {
                    resource.latch = latch;
                }
            }
        });
    }

    /** When a latch opens, the first who waits passes. */
    public static SimStore onePasses() {
        return BrokenStores.of(new State() {
            @Override
            void settle(MemoryResource resource) {
                List<MemoryClaim> others = List.of();
                if (resource.latch != null && resource.queue.size() > 1) {
                    others = new ArrayList<>(resource.queue.values()).subList(1, resource.queue.size());
                }
                others.forEach(claim -> resource.queue.remove(claim.ref));
                super.settle(resource);
                others.forEach(claim -> resource.queue.put(claim.ref, claim));
            }
        });
    }

    /** A count-down that comes again counts again. */
    public static SimStore countedTwice() {
        return new Twisted() {
            private long sendings;

            @Override
            Outcome twist(Command command, long micros) {
                return command instanceof CountDown down
                        ? straight(
                                new CountDown(down.resource(), down.generation(), "s" + ++sendings, down.n()), micros)
                        : straight(command, micros);
            }
        };
    }

    /** A count-down of an earlier generation counts in the next. */
    public static SimStore generationIgnored() {
        return new Twisted() {
            @Override
            Outcome twist(Command command, long micros) {
                if (command instanceof CountDown down && down.generation() != 0) {
                    long present = generation(this, down, micros);
                    return straight(new CountDown(down.resource(), present, down.id(), down.n()), micros);
                }
                return straight(command, micros);
            }
        };
    }

    /** Every setting of an open latch begins a generation, however late the command arrives. */
    public static SimStore oldSettingActs() {
        return new Twisted() {
            @Override
            Outcome twist(Command command, long micros) {
                if (command instanceof SetCount set) {
                    long next = 1 + generation(this, new CountDown(set.resource(), 0, "?", 1), micros);
                    long generation = Math.max(next, set.generation());
                    return straight(
                            new SetCount(set.resource(), set.session(), Long.MAX_VALUE - 1, generation, set.count()),
                            micros);
                }
                return straight(command, micros);
            }
        };
    }

    private static long generation(Twisted store, CountDown of, long micros) {
        Reply reply =
                store.straight(new CountDown(of.resource(), 0, "?", 1), micros).reply();
        return reply instanceof Reply.Count count ? count.generation() : 0;
    }

    // ---- Elections

    /** Admits a second leader. */
    public static SimStore twoLeaders() {
        return BrokenStores.of(new State() {
            @Override
            boolean grant(MemoryClaim claim) {
                boolean isGranted = super.grant(claim);
                if (isGranted && claim.resource.declared.kind() == Kind.ELECTION) {
                    claim.resource.heldWeight = 0;
                }
                return isGranted;
            }
        });
    }

    private static SimStore claiming(UnaryOperator<Acquire> otherwise) {
        return new Twisted() {
            @Override
            Outcome twist(Command command, long micros) {
                if (command instanceof Acquire acquire) {
                    return straight(otherwise.apply(acquire), micros);
                } else if (command instanceof Yield yield) {
                    return straight(new Yield(yield.claim(), otherwise.apply(yield.next())), micros);
                }
                return straight(command, micros);
            }
        };
    }

    private static Acquire with(Acquire acquire, Lease lease) {
        return new Acquire(
                acquire.claim(),
                acquire.epoch(),
                acquire.sending(),
                acquire.spec(),
                acquire.weight(),
                lease,
                acquire.waiting(),
                acquire.tokens());
    }
}
