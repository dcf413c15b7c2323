package dev.holdfast.engine;

import dev.holdfast.election.Campaign;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.Candidate;
import dev.holdfast.election.LeaderElection;
import dev.holdfast.election.LeaderView;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.testkit.sim.ClientUnderTest.Starter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** Clients whose elections each break one rule: candidates are notified of something untrue. */
final class BrokenElections {

    private BrokenElections() {}

    /** A term claims to last until its end has been reported. */
    static Starter leadsForEver() {
        return telling(candidate -> new Told(candidate) {
            private final Map<Leadership, Leadership> stubborn = new IdentityHashMap<>();
            private final Map<Leadership, Boolean> over = new IdentityHashMap<>();

            @Override
            public void onElected(Leadership leadership) throws Exception {
                super.onElected(stubborn.computeIfAbsent(leadership, this::stubborn));
            }

            @Override
            public void onTermEnd(Leadership leadership, TermEnd end) {
                over.put(leadership, true);
                super.onTermEnd(stubborn.get(leadership), end);
            }

            private Leadership stubborn(Leadership sound) {
                return (Leadership) Proxy.newProxyInstance(
                        Leadership.class.getClassLoader(), new Class<?>[] {Leadership.class}, (self, method, args) -> {
                            if (method.getName().equals("isLeader")) {
                                return !over.containsKey(sound);
                            } else if (method.getName().equals("equals")) {
                                return self == args[0];
                            }
                            try {
                                return method.invoke(sound, args);
                            } catch (InvocationTargetException thrown) {
                                throw thrown.getCause();
                            }
                        });
            }
        });
    }

    /** The loss of a term is not reported. */
    static Starter lossNotTold() {
        return telling(candidate -> new Told(candidate) {
            @Override
            public void onTermEnd(Leadership leadership, TermEnd end) {
                if (end.reason() != TermEnd.Reason.LOST) {
                    super.onTermEnd(leadership, end);
                }
            }
        });
    }

    /** A closed campaign reports its end, and continues. */
    static Starter neverLeaves() {
        Starter sound = EngineUnderTest.keeping(new SafetyRules());
        return (store, environment, settings) -> sound.start(store, environment, settings)
                .thenApply(client -> new EngineUnderTest(((EngineUnderTest) client).engine) {
                    @Override
                    public LeaderElection election(String name) {
                        return new Relayed(super.election(name), candidate -> candidate) {
                            @Override
                            public Campaign campaign(CampaignOptions options, Candidate candidate) {
                                return endless(super.campaign(options, candidate));
                            }
                        };
                    }
                });
    }

    private static Campaign endless(Campaign sound) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        return (Campaign) Proxy.newProxyInstance(
                Campaign.class.getClassLoader(), new Class<?>[] {Campaign.class}, (self, method, args) -> {
                    if (method.getName().equals("ended")) {
                        return ended;
                    } else if (method.getName().equals("closeAsync")) {
                        sound.resign();
                        ended.complete(null);
                        return ended;
                    }
                    return method.invoke(sound, args);
                });
    }

    private static Starter telling(UnaryOperator<Candidate> otherwise) {
        Starter sound = EngineUnderTest.keeping(new SafetyRules());
        return (store, environment, settings) -> sound.start(store, environment, settings)
                .thenApply(client -> new EngineUnderTest(((EngineUnderTest) client).engine) {
                    @Override
                    public LeaderElection election(String name) {
                        return new Relayed(super.election(name), otherwise);
                    }
                });
    }

    /** A candidate that forwards its notifications to another. */
    private static class Told implements Candidate {
        private final Candidate candidate;

        Told(Candidate candidate) {
            this.candidate = candidate;
        }

        @Override
        public void onElected(Leadership leadership) throws Exception {
            candidate.onElected(leadership);
        }

        @Override
        public void onTermEnd(Leadership leadership, TermEnd end) {
            candidate.onTermEnd(leadership, end);
        }

        @Override
        public void onError(Throwable failure) {
            candidate.onError(failure);
        }
    }

    private static class Relayed implements LeaderElection {
        private final LeaderElection sound;
        private final UnaryOperator<Candidate> relay;

        Relayed(LeaderElection sound, UnaryOperator<Candidate> relay) {
            this.sound = sound;
            this.relay = relay;
        }

        @Override
        public String name() {
            return sound.name();
        }

        @Override
        public Campaign campaign(Candidate candidate) {
            return campaign(CampaignOptions.defaults(), candidate);
        }

        @Override
        public Campaign campaign(CampaignOptions options, Candidate candidate) {
            return sound.campaign(options, relay.apply(candidate));
        }

        @Override
        public Observation observe(Consumer<? super LeaderView> observer) {
            return sound.observe(observer);
        }

        @Override
        public CompletionStage<LeaderView> leader() {
            return sound.leader();
        }
    }
}
