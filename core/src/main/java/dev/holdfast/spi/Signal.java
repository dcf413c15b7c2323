package dev.holdfast.spi;

import java.util.OptionalInt;

/**
 * A hint that a store pushes. It may be lost, late or out of order: a receiver relies on nothing that a command could
 * contradict.
 */
public sealed interface Signal {

    /** Calls the handler's method for this signal. */
    void accept(SignalHandler handler);

    /** A signal that concerns one claim. */
    sealed interface OnClaim extends Signal {
        /** The claim it concerns. */
        ClaimRef claim();
    }

    /**
     * A waiting claim was granted; carries the whole reply. For a bounded or detached claim it only means 'poll now'.
     */
    record Granted(ClaimRef claim, Reply.Granted grant) implements OnClaim {
        @Override
        public void accept(SignalHandler handler) {
            handler.granted(this);
        }
    }

    /** A claim may be granted by now, or its state changed otherwise: poll it. */
    record Changed(ClaimRef claim) implements OnClaim {
        @Override
        public void accept(SignalHandler handler) {
            handler.changed(this);
        }
    }

    /** A grant was released by force; it is in doubt until the store has answered. */
    record Revoked(ClaimRef claim) implements OnClaim {
        @Override
        public void accept(SignalHandler handler) {
            handler.revoked(this);
        }
    }

    /** A session has ended at the store; in doubt until the store has answered. */
    record SessionEnded(SessionId session) implements Signal {
        @Override
        public void accept(SignalHandler handler) {
            handler.sessionEnded(this);
        }
    }

    /**
     * The subscription was restored after a gap: every waiting claim must be polled at once.
     *
     * @param partition the partition of these claims; empty for all
     */
    record Resubscribed(OptionalInt partition) implements Signal {
        /** For all claims. */
        public Resubscribed() {
            this(OptionalInt.empty());
        }

        @Override
        public void accept(SignalHandler handler) {
            handler.resubscribed(this);
        }
    }

    /**
     * Another server answers than before, or one that was promoted or restored, which may lack the newest changes.
     * Every waiting claim must be polled and every session audited at once, instead of once per ttl.
     *
     * @param partition the partition of these claims and sessions; empty for all
     */
    record FailedOver(OptionalInt partition) implements Signal {
        /** For all claims and sessions. */
        public FailedOver() {
            this(OptionalInt.empty());
        }

        @Override
        public void accept(SignalHandler handler) {
            handler.failedOver(this);
        }
    }
}
