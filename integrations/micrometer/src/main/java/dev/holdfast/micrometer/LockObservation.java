package dev.holdfast.micrometer;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.Observation.Context;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** The observations of locks, documented. */
public enum LockObservation implements ObservationDocumentation {

    /** From the request for a lock to its grant, or to the end of the wait. */
    WAIT {
        @Override
        public Class<? extends ObservationConvention<? extends Context>> getDefaultConvention() {
            return DefaultLockObservationConvention.Wait.class;
        }
    },

    /** From the grant of a lock to its release. */
    HOLD {
        @Override
        public Class<? extends ObservationConvention<? extends Context>> getDefaultConvention() {
            return DefaultLockObservationConvention.Hold.class;
        }

        @Override
        public Observation.Event[] getEvents() {
            return HoldEvent.values();
        }
    };

    @Override
    public KeyName[] getLowCardinalityKeyNames() {
        return LowCardinality.values();
    }

    @Override
    public KeyName[] getHighCardinalityKeyNames() {
        return HighCardinality.values();
    }

    @Override
    public String getPrefix() {
        return "holdfast";
    }

    /** Keys with few values: tags of meters and spans. */
    public enum LowCardinality implements KeyName {
        /** What is locked: {@code mutex}, {@code read-write}, {@code semaphore} or {@code latch}. */
        KIND("holdfast.kind"),
        /** The outcome, see {@link LockObservationContext#outcome()}. */
        OUTCOME("holdfast.outcome"),
        /** The kind of store, without a version: "PostgreSQL". */
        STORE("holdfast.store");

        private final String key;

        LowCardinality(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }

    /** Keys with any number of values: tags of spans only. */
    public enum HighCardinality implements KeyName {
        /** The name of the lock. */
        LOCK("holdfast.lock"),
        /** The fencing token; {@code none} without a grant. */
        TOKEN("holdfast.token"),
        /** The weight: permits of a semaphore; 1 for a reader of a read-write lock. */
        WEIGHT("holdfast.weight");

        private final String key;

        HighCardinality(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }

    /** Events of a hold before its release. */
    public enum HoldEvent implements Observation.Event {
        /** The hold was lost: another may have the lock from here on. */
        LOST;

        @Override
        public String getName() {
            return "holdfast.lost";
        }

        @Override
        public String getContextualName() {
            return "lost";
        }
    }
}
