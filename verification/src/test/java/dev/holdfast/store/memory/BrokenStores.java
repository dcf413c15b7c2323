package dev.holdfast.store.memory;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Extend;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.Command.KeepAlive;
import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Withdraw;
import dev.holdfast.spi.Command.Yield;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.memory.ReferenceMachine.Outcome;
import dev.holdfast.testkit.sim.SimStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Stores of which each breaks one rule; everything else about them is the reference. */
public final class BrokenStores {

    private static final Reply.Queued IN_A_DAY = new Reply.Queued(Duration.ofDays(1));

    private static final long HIGHEST_EPOCH = Long.MAX_VALUE - 1;

    private BrokenStores() {}

    // ---- Broken in what the store knows

    /** A keep-alive of a session that has ended brings it back, without its claims. */
    public static SimStore keepAliveRevivesSession() {
        return reviving(new Reviving(false));
    }

    /** A session that was passed over is only hidden: a late keep-alive brings it back with what it held. */
    public static SimStore keepAliveRevivesGrants() {
        return reviving(new Reviving(true));
    }

    /** Blocks are as large as can be, and don't end near the clock. */
    public static SimStore blocksWithoutEnd() {
        return of(new State() {
            @Override
            TokenBlock reserve(MemoryResource resource, long atLeast, int want) {
                long first = Math.max(Math.max(resource.lastToken, atLeast) + 1, Tokens.floor(now()));
                resource.lastToken = first + TokenBlock.MAX_SIZE - 1;
                return new TokenBlock(first, resource.lastToken);
            }
        });
    }

    /** The record of the newest token goes with the last claim. */
    public static SimStore tokensForgottenWithTheLock() {
        return of(new State() {
            @Override
            void setAside(MemoryResource resource) {
                resource.lastToken = 0;
                super.setAside(resource);
            }
        });
    }

    /** Does not check the sessions of waiters, so a dead waiter is granted its claim. */
    public static SimStore deadWaitersAreGranted() {
        return of(new State() {
            @Override
            void expire() {
                for (MemorySession session : sessions.values()) {
                    boolean isWaiting = session.claims.stream().anyMatch(claim -> claim.tokens == null);
                    if (isWaiting && session.live) {
                        renew(session);
                    }
                }
                super.expire();
            }
        });
    }

    /** Nothing ever expires. */
    public static SimStore nothingExpires() {
        return of(new State() {
            @Override
            void expire() {}
        });
    }

    /** Sessions end after four fifths of the ttl that was promised. */
    public static SimStore sessionsEndEarly() {
        return of(new State() {
            @Override
            void renew(MemorySession session) {
                endAt(session, now() + session.ttl / 5 * 4);
            }
        });
    }

    /** The newest waiter goes first. */
    public static SimStore lastComeFirstServed() {
        return of(new State() {
            @Override
            void settle(MemoryResource resource) {
                List<MemoryClaim> turned = new ArrayList<>(resource.queue.values());
                resource.queue.clear();
                for (int i = turned.size() - 1; i >= 0; i--) {
                    resource.queue.put(turned.get(i).ref, turned.get(i));
                }
                super.settle(resource);
            }
        });
    }

    // ---- Broken in what it does with a command

    /** Makes a claim that arrives after its release again: the epoch is ignored. */
    public static SimStore claimAfterReleaseIsMade() {
        return new IgnoringEpochs(false);
    }

    /** Makes a claim that arrives after its withdrawal: the epoch is ignored. */
    public static SimStore claimAfterWithdrawalIsMade() {
        return new IgnoringEpochs(true);
    }

    /** A keep-alive moves the deadline, but does not raise the epoch. */
    public static SimStore epochIsNotRaised() {
        return new Twisted() {
            @Override
            Outcome twist(Command command, long micros) {
                return command instanceof KeepAlive alive
                        ? straight(new KeepAlive(alive.session(), 0), micros)
                        : straight(command, micros);
            }
        };
    }

    /** A second request for a session by the same client is answered with the first one. */
    public static SimStore oldSessionIsGivenAgain() {
        return new Twisted() {
            private final Map<String, Outcome> opened = new HashMap<>();

            @Override
            Outcome twist(Command command, long micros) {
                return command instanceof OpenSession open
                        ? opened.computeIfAbsent(open.label(), label -> straight(command, micros))
                        : straight(command, micros);
            }
        };
    }

    /** A yield releases first and claims then: if the claim is rejected, the grant is gone anyway. */
    public static SimStore yieldIsTwoSteps() {
        return new Twisted() {
            @Override
            Outcome twist(Command command, long micros) {
                if (command instanceof Yield yield) {
                    Outcome released = straight(new Release(yield.claim()), micros);
                    return with(released, straight(yield.next(), micros));
                }
                return straight(command, micros);
            }
        };
    }

    /** Any release frees the resource, whoever owns it. */
    public static SimStore anybodyMayRelease() {
        return new Twisted() {
            @Override
            Outcome twist(Command command, long micros) {
                Outcome outcome = straight(command, micros);
                if (command instanceof Release release && outcome.reply() instanceof Reply.Absent) {
                    Optional<ClaimRef> holder = holder(release, micros);
                    if (holder.isPresent()) {
                        return with(outcome, straight(new Release(holder.get()), micros));
                    }
                }
                return outcome;
            }
        };
    }

    /** An extension takes effect regardless of its sequence number, so a late old one shortens a lease. */
    public static SimStore oldExtensionsAct() {
        return new Twisted() {
            private final Map<ClaimRef, Long> newest = new HashMap<>();

            @Override
            Outcome twist(Command command, long micros) {
                if (command instanceof Extend extend) {
                    long seq = newest.merge(extend.claim(), 1L, Long::sum);
                    Outcome outcome = straight(new Extend(extend.claim(), seq, extend.lease()), micros);
                    return outcome.reply() instanceof Reply.Extended extended
                            ? new Outcome(new Reply.Extended(extend.seq(), extended.remaining()), outcome.signals())
                            : outcome;
                }
                return straight(command, micros);
            }
        };
    }

    /** Waiters are to recheck only after a day, so a lost push is a lost wake-up. */
    public static SimStore nobodyLooksAgain() {
        return new Twisted() {
            @Override
            Outcome twist(Command command, long micros) {
                Outcome outcome = straight(command, micros);
                if (outcome.reply() instanceof Reply.Queued) {
                    return new Outcome(IN_A_DAY, outcome.signals());
                } else if (outcome.reply() instanceof Reply.Polled polled) {
                    List<Reply.ClaimReply> states = polled.states().stream()
                            .map(state -> state instanceof Reply.Queued ? IN_A_DAY : state)
                            .toList();
                    return new Outcome(new Reply.Polled(states), outcome.signals());
                }
                return outcome;
            }
        };
    }

    private static SimStore reviving(Reviving state) {
        SimStore store = of(state);
        return new Twisted() {
            @Override
            Outcome twist(Command command, long micros) {
                state.isRenewing = command instanceof KeepAlive;
                return store.apply(command, micros);
            }
        };
    }

    static SimStore of(State state) {
        return SimStore.of(new ReferenceMachine(state));
    }

    private static final class Reviving extends State {
        private final boolean withGrants;
        private final Map<SessionId, MemorySession> graves = new HashMap<>();
        private final Map<SessionId, List<MemoryClaim>> estates = new HashMap<>();
        private boolean isClosing;
        private boolean isRenewing;

        Reviving(boolean withGrants) {
            this.withGrants = withGrants;
        }

        @Override
        void end(MemorySession session) {
            isClosing = true;
            super.end(session);
            isClosing = false;
        }

        @Override
        void end(MemorySession session, Set<MemoryResource> touched) {
            if (!isClosing) {
                graves.put(session.id, session);
                estates.put(
                        session.id,
                        session.claims.stream()
                                .filter(claim -> claim.tokens != null)
                                .toList());
            }
            super.end(session, touched);
        }

        @Override
        MemorySession liveSession(SessionId id) {
            MemorySession live = super.liveSession(id);
            MemorySession dead = live == null && isRenewing ? graves.remove(id) : null;
            if (dead == null) {
                return live;
            }
            dead.live = true;
            sessions.put(id, dead);
            renew(dead);
            if (withGrants) {
                estates.get(id).forEach(this::restore);
            }
            return dead;
        }

        private void restore(MemoryClaim claim) {
            MemoryResource resource = use(claim.resource.name, claim.resource.declared);
            if (resource == claim.resource) {
                resource.grants.put(claim.ref, claim);
                resource.heldWeight += claim.weight;
                claim.session.claims.add(claim);
            }
        }
    }

    /** A store that does something else with some commands. */
    abstract static class Twisted implements SimStore {
        private final SimStore straight = SimStore.reference();

        abstract Outcome twist(Command command, long micros);

        Outcome straight(Command command, long micros) {
            return straight.apply(command, micros);
        }

        Optional<ClaimRef> holder(Command.OnResource command, long micros) {
            String name = command.resource().value();
            Reply reply =
                    straight(new Inspect(name, Optional.empty(), 1), micros).reply();
            return ((Reply.Inspected) reply)
                    .resources().stream()
                            .flatMap(info -> info.holders().stream())
                            .map(ResourceInfo.Party::claim)
                            .findFirst();
        }

        static Outcome with(Outcome earlier, Outcome later) {
            List<Signal> signals = new ArrayList<>(earlier.signals());
            signals.addAll(later.signals());
            return new Outcome(later.reply(), signals);
        }

        @Override
        public StoreTraits traits() {
            return straight.traits();
        }

        @Override
        public Outcome apply(Command command, long micros) {
            return twist(command, micros);
        }
    }

    private static final class IgnoringEpochs extends Twisted {
        private final boolean ofWithdrawn;
        private final Set<ClaimRef> ended = new HashSet<>();

        IgnoringEpochs(boolean ofWithdrawn) {
            this.ofWithdrawn = ofWithdrawn;
        }

        @Override
        Outcome twist(Command command, long micros) {
            if (ofWithdrawn && command instanceof Withdraw withdraw) {
                ended.add(withdraw.claim());
            } else if (!ofWithdrawn && command instanceof Release release) {
                ended.add(release.claim());
            }
            if (command instanceof Acquire acquire && ended.contains(acquire.claim())) {
                return straight(timeless(acquire), micros);
            } else if (command instanceof Yield yield
                    && ended.contains(yield.next().claim())) {
                return straight(new Yield(yield.claim(), timeless(yield.next())), micros);
            }
            return straight(command, micros);
        }

        private static Acquire timeless(Acquire acquire) {
            return new Acquire(
                    acquire.claim(),
                    HIGHEST_EPOCH,
                    acquire.sending(),
                    acquire.spec(),
                    acquire.weight(),
                    acquire.lease(),
                    acquire.waiting(),
                    acquire.tokens());
        }
    }
}
