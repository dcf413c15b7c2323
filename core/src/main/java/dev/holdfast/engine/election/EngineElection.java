package dev.holdfast.engine.election;

import dev.holdfast.election.Campaign;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.Candidate;
import dev.holdfast.election.LeaderElection;
import dev.holdfast.election.LeaderView;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.local.Mode;
import dev.holdfast.engine.wire.ResourceInspection;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.TokenBlock;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** The election of one name. Immutable. */
public final class EngineElection implements LeaderElection {

    /** Each campaign has its own hold. */
    static final Mode SEAT = Mode.unowned(new ResourceSpec(Kind.ELECTION, 1, Order.FAIR), 1);

    private final LocalResources resources;
    private final ClientContext context;
    private final Elections elections;
    private final ResourceName name;

    public EngineElection(LocalResources resources, Elections elections, ResourceName name) {
        this.resources = resources;
        this.context = resources.context;
        this.elections = elections;
        this.name = name;
    }

    @Override
    public String name() {
        return name.value();
    }

    @Override
    public Campaign campaign(Candidate candidate) {
        return campaign(CampaignOptions.defaults(), candidate);
    }

    @Override
    public Campaign campaign(CampaignOptions options, Candidate candidate) {
        EngineCampaign campaign = new EngineCampaign(resources, elections, name, options, candidate);
        elections.add(campaign);
        campaign.start();
        return campaign;
    }

    @Override
    public Observation observe(Consumer<? super LeaderView> observer) {
        LeaderPoller poller = new LeaderPoller(resources, elections, name, observer);
        elections.add(poller);
        poller.pollNow();
        return poller;
    }

    @Override
    public CompletionStage<LeaderView> leader() {
        CompletableFuture<LeaderView> stage = new CompletableFuture<>();
        if (context.isClosing()) {
            context.callbacks()
                    .run(() -> stage.completeExceptionally(context.failures().closed()));
            return stage;
        }
        var unused = ResourceInspection.askWithin(
                        resources.partition(name).wire,
                        name,
                        CallerMode.ASYNC,
                        context.options().storeTimeout())
                .whenComplete((found, failure) -> context.callbacks().run(() -> {
                    if (failure instanceof StoreException known) {
                        stage.completeExceptionally(context.storeFailure(name.value(), known));
                    } else {
                        stage.complete(viewOf(found));
                    }
                }));
        return stage;
    }

    /**
     * The leader on record at the store. The term is the first token of the grant, since an election's grant is never
     * handed over in memory.
     */
    static LeaderView viewOf(Optional<ResourceInfo> found) {
        List<ResourceInfo.Party> holders = found.filter(info -> info.spec().kind() == Kind.ELECTION)
                .map(ResourceInfo::holders)
                .orElse(List.of());
        if (holders.isEmpty()) {
            return LeaderView.NOBODY;
        }
        ResourceInfo.Party leader = holders.get(0);
        return new LeaderView(leader.tokens().map(TokenBlock::first).orElse(0L), Optional.of(leader.label()));
    }

    @Override
    public String toString() {
        return "LeaderElection[" + name + ", " + context.product() + "]";
    }
}
