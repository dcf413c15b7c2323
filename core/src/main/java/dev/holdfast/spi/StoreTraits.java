package dev.holdfast.spi;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a store can and cannot promise. The conformance kit tests what is declared, and skips the rest with a reason.
 *
 * <p>A store declares what it supports, and promises nothing else, so a trait that is added later does not affect it.
 * Immutable.
 */
public final class StoreTraits {

    /** An optional feature of stores. */
    public enum Feature {
        /** Pushes signals; if not, the engine polls. */
        PUSH,
        /** Admits waiters in the order in which they queued. */
        FIFO,
        /** Has resources of the order {@link Order#BARGING}. */
        BARGING,
        /** Supports {@link Command.Advance}. */
        ADVANCE,
        /** Keeps grants that outlive their session. */
        DETACHED_GRANTS,
        /** Knows whether others wait: {@code awaited} means something. */
        KNOWN_WAITERS,
        /** May make a round trip on the calling thread, which takes a moment or at most as long as the caller waits. */
        CALLER_RUNS,
        /** Answers {@link Command.Inspect} in the order of the names. */
        ORDERED_INSPECTION,
        /** Sessions belong to no connection: one survives its connection, and may be used through any. */
        PORTABLE_SESSIONS,
        /** Supports {@link Command.Annotate}. */
        ANNOTATIONS,
        /** Supports {@link Command.RecordRun} and {@link Command.ListRuns}. */
        RUNS
    }

    /** A class of claims. */
    public enum Admission {
        /** One holder. */
        EXCLUSIVE,
        /** Readers and writers. */
        SHARED,
        /** Weights and capacities other than one and all. */
        COUNTED,
        /** Latches and pass claims. */
        LATCH
    }

    /** How fixed leases end. */
    public enum FixedLease {
        /** By the store's clock, in each step that reads them. */
        NATIVE,
        /** By other clients that remove them. */
        EVICTED,
        /** There are none. */
        NONE
    }

    /** Where fencing tokens come from. */
    public enum TokenSource {
        /** A counter that follows the store's clock, see {@link dev.holdfast.spi.support.Tokens}. */
        CLOCKED,
        /** A counter of the store's own, such as the revision of its data; it restarts after a wipe or a restore. */
        REVISION,
        /** The highest of several stores. */
        QUORUM
    }

    private final String product;
    private final String system;
    private final Set<Feature> features;
    private final Set<Admission> admissions;
    private final Duration minSessionTtl;
    private final Duration maxSessionTtl;
    private final Duration ttlGranularity;
    private final FixedLease fixedLease;
    private final TokenSource tokenSource;
    private final Duration pollEvery;

    private StoreTraits(Builder builder) {
        this.product = builder.product;
        this.system = builder.system;
        this.features = Set.copyOf(builder.features);
        this.admissions = Set.copyOf(builder.admissions);
        this.minSessionTtl = builder.minSessionTtl;
        this.maxSessionTtl = builder.maxSessionTtl;
        this.ttlGranularity = builder.ttlGranularity;
        this.fixedLease = builder.fixedLease;
        this.tokenSource = builder.tokenSource;
        this.pollEvery = builder.pollEvery;
    }

    /**
     * Starts the traits of a store that promises only exclusive claims.
     *
     * @param product the product, for people: "SQLite 3.54.1"
     */
    public static Builder of(String product) {
        return new Builder(product);
    }

    /** The product with its version, for people. */
    public String product() {
        return product;
    }

    /** The product without its version: the same after an upgrade, so metrics are tagged with it. */
    public String system() {
        return system;
    }

    /** Whether the store has a feature. */
    public boolean has(Feature feature) {
        return features.contains(feature);
    }

    /** Which claims the store admits. */
    public Set<Admission> admissions() {
        return admissions;
    }

    /** The shortest session that the store keeps: a shorter ttl is lengthened to it. */
    public Duration minSessionTtl() {
        return minSessionTtl;
    }

    /** The longest session that the store keeps: a longer ttl is refused. */
    public Duration maxSessionTtl() {
        return maxSessionTtl;
    }

    /** Session ttls are rounded up to this. */
    public Duration ttlGranularity() {
        return ttlGranularity;
    }

    /** How the store ends leases that are not renewed. */
    public FixedLease fixedLease() {
        return fixedLease;
    }

    /** Where the fencing tokens come from. */
    public TokenSource tokenSource() {
        return tokenSource;
    }

    /** The interval of the engine's polls while claims wait and nothing is pushed. */
    public Duration pollEvery() {
        return pollEvery;
    }

    /** Starts a changed copy. */
    public Builder toBuilder() {
        Builder builder = new Builder(product).system(system);
        builder.features.addAll(features);
        builder.admissions.addAll(admissions);
        builder.minSessionTtl = minSessionTtl;
        builder.maxSessionTtl = maxSessionTtl;
        builder.ttlGranularity = ttlGranularity;
        builder.fixedLease = fixedLease;
        builder.tokenSource = tokenSource;
        builder.pollEvery = pollEvery;
        return builder;
    }

    private List<Object> all() {
        return List.of(
                product,
                system,
                features,
                admissions,
                minSessionTtl,
                maxSessionTtl,
                ttlGranularity,
                fixedLease,
                tokenSource,
                pollEvery);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof StoreTraits traits && traits.all().equals(all());
    }

    @Override
    public int hashCode() {
        return all().hashCode();
    }

    @Override
    public String toString() {
        return "StoreTraits" + all();
    }

    /** Builds traits. Not thread-safe. */
    public static final class Builder {
        private String product;
        private String system;
        private final Set<Feature> features = EnumSet.noneOf(Feature.class);
        private final Set<Admission> admissions = EnumSet.of(Admission.EXCLUSIVE);
        private Duration minSessionTtl = Duration.ofMillis(1);
        private Duration maxSessionTtl = Command.MAX_DURATION;
        private Duration ttlGranularity = Duration.ofNanos(1);
        private FixedLease fixedLease = FixedLease.NONE;
        private TokenSource tokenSource = TokenSource.CLOCKED;
        private Duration pollEvery = Duration.ofMillis(100);

        private Builder(String product) {
            this.product = product;
            this.system = product;
        }

        /** See {@link StoreTraits#system()}; the product by default. */
        @CanIgnoreReturnValue
        public Builder system(String name) {
            system = name;
            return this;
        }

        /** See {@link StoreTraits#product()}. */
        @CanIgnoreReturnValue
        public Builder product(String name) {
            product = name;
            return this;
        }

        /** Adds features. */
        @CanIgnoreReturnValue
        public Builder with(Feature... more) {
            features.addAll(Set.of(more));
            return this;
        }

        /** Adds features under a condition. */
        @CanIgnoreReturnValue
        public Builder withIf(boolean condition, Feature... more) {
            return condition ? with(more) : this;
        }

        /** Removes features. */
        @CanIgnoreReturnValue
        public Builder without(Feature... fewer) {
            features.removeAll(Set.of(fewer));
            return this;
        }

        /** Admits these classes of claims; by default only exclusive ones. */
        @CanIgnoreReturnValue
        public Builder admits(Set<Admission> classes) {
            admissions.addAll(classes);
            return this;
        }

        /** Admits all classes of claims. */
        @CanIgnoreReturnValue
        public Builder admitsAll() {
            return admits(Set.of(Admission.values()));
        }

        /** See {@link StoreTraits#minSessionTtl()}; a millisecond by default. */
        @CanIgnoreReturnValue
        public Builder minSessionTtl(Duration ttl) {
            minSessionTtl = ttl;
            return this;
        }

        /** See {@link StoreTraits#maxSessionTtl()}; {@link Command#MAX_DURATION} by default. */
        @CanIgnoreReturnValue
        public Builder maxSessionTtl(Duration ttl) {
            maxSessionTtl = ttl;
            return this;
        }

        /** See {@link StoreTraits#ttlGranularity()}; a nanosecond by default. */
        @CanIgnoreReturnValue
        public Builder ttlGranularity(Duration step) {
            ttlGranularity = step;
            return this;
        }

        /** See {@link StoreTraits#fixedLease()}; {@link FixedLease#NONE} by default. */
        @CanIgnoreReturnValue
        public Builder fixedLease(FixedLease end) {
            fixedLease = end;
            return this;
        }

        /** See {@link StoreTraits#tokenSource()}; {@link TokenSource#CLOCKED} by default. */
        @CanIgnoreReturnValue
        public Builder tokenSource(TokenSource source) {
            tokenSource = source;
            return this;
        }

        /** See {@link StoreTraits#pollEvery()}; 100 ms by default. */
        @CanIgnoreReturnValue
        public Builder pollEvery(Duration interval) {
            pollEvery = interval;
            return this;
        }

        /**
         * Makes the traits.
         *
         * @throws IllegalArgumentException if the shortest session is longer than the longest one
         */
        public StoreTraits build() {
            if (minSessionTtl.compareTo(maxSessionTtl) > 0) {
                throw new IllegalArgumentException(
                        "minSessionTtl (" + minSessionTtl + ") must be at most maxSessionTtl (" + maxSessionTtl + ")");
            }
            return new StoreTraits(this);
        }
    }
}
