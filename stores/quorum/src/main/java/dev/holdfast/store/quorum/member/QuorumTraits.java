package dev.holdfast.store.quorum.member;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Admission;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.StoreTraits.FixedLease;
import dev.holdfast.spi.StoreTraits.TokenSource;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The traits of a quorum: at most what all members support. */
public final class QuorumTraits {

    /** About how often a waiting claim retries. */
    public static final Duration POLL_EVERY = Duration.ofMillis(16);

    private QuorumTraits() {}

    /**
     * The traits of a quorum of some members.
     *
     * @throws IllegalArgumentException if one of them can't be part of a quorum
     */
    public static StoreTraits of(List<LockStore> members) {
        Set<Admission> admissions = EnumSet.of(Admission.EXCLUSIVE, Admission.SHARED);
        Set<String> products = new TreeSet<>();
        Duration minTtl = Duration.ofNanos(1);
        Duration maxTtl = Command.MAX_DURATION;
        Duration granularity = Duration.ofNanos(1);
        boolean isBarging = true;
        boolean isPortable = true;
        boolean isAnnotating = true;
        boolean isRecording = true;
        for (LockStore member : members) {
            StoreTraits traits = member.traits();
            String product = traits.product();
            if (LateMember.isMissing(member)) {
                continue;
            }
            need(traits.has(Feature.ADVANCE), product, "its tokens can't be raised to the level of other members");
            need(
                    traits.has(Feature.DETACHED_GRANTS) && traits.fixedLease() == FixedLease.NATIVE,
                    product,
                    "it doesn't support leases that outlive a session, which the quorum needs to "
                            + "detect a loss of data");
            need(member.partitions() == 1, product, "its sessions have several partitions, which may end separately");
            need(
                    traits.tokenSource() == TokenSource.CLOCKED,
                    product,
                    "its tokens don't come from a counter that follows its clock");
            admissions.retainAll(traits.admissions());
            products.add(product);
            minTtl = longer(minTtl, traits.minSessionTtl());
            maxTtl = shorter(maxTtl, traits.maxSessionTtl());
            granularity = longer(granularity, traits.ttlGranularity());
            isBarging &= traits.has(Feature.BARGING);
            isPortable &= traits.has(Feature.PORTABLE_SESSIONS);
            isAnnotating &= traits.has(Feature.ANNOTATIONS);
            isRecording &= traits.has(Feature.RUNS);
        }
        return StoreTraits.of("quorum of " + members.size() + " (" + String.join(", ", products) + ")")
                .system("quorum")
                .with(Feature.ADVANCE, Feature.DETACHED_GRANTS, Feature.ORDERED_INSPECTION)
                .withIf(isBarging, Feature.BARGING)
                .withIf(isPortable, Feature.PORTABLE_SESSIONS)
                .withIf(isAnnotating, Feature.ANNOTATIONS)
                .withIf(isRecording, Feature.RUNS)
                .admits(admissions)
                .minSessionTtl(minTtl)
                .maxSessionTtl(maxTtl)
                .ttlGranularity(granularity)
                .fixedLease(FixedLease.NATIVE)
                .tokenSource(TokenSource.QUORUM)
                .pollEvery(POLL_EVERY)
                .build();
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    private static void need(boolean has, String product, String why) {
        if (!has) {
            throw new IllegalArgumentException("A store on " + product + " can't be a member of a quorum: " + why);
        }
    }
}
