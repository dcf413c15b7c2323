package dev.holdfast.store.register.client;

import dev.holdfast.Environment;
import dev.holdfast.store.register.RegisterAdapter;

/** Clients of registers that break one rule of their competition each, and one that keeps them all. */
public enum BrokenRegisterClients {
    /** Breaks nothing. */
    SOUND(new ContentionRules()),

    /** Competes for ever, however often it loses. */
    NEVER_ANNOUNCES(new ContentionRules() {
        @Override
        boolean hasLost(int lostWrites) {
            return false;
        }

        @Override
        boolean makesWay() {
            return false;
        }
    }),

    /** Announces its claims, and leaves the holder to find out. */
    NOTIFIES_NOBODY(new ContentionRules() {
        @Override
        boolean notifiesWriters() {
            return false;
        }
    }),

    /** Releases a lock, or queues for it, without the claims of which others have notified it. */
    IGNORES_NOTICES(new ContentionRules() {
        @Override
        boolean addsNoticed() {
            return false;
        }
    }),

    /** Waits for the client of the first arrival to add all of them, though it may have died. */
    WAITS_FOR_FIRST_ARRIVAL(new ContentionRules() {
        @Override
        boolean leavesArrivalsToFirst(int reads) {
            return true;
        }
    });

    private final ContentionRules rules;

    BrokenRegisterClients(ContentionRules rules) {
        this.rules = rules;
    }

    /** A store on an adapter whose client keeps these rules. */
    public RegisterStore over(RegisterAdapter adapter, Environment environment) {
        return RegisterStore.over(adapter, environment, rules);
    }
}
