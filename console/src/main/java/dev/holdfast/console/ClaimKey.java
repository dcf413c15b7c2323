package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;

/** Identifies a claim among all claims at a store. */
record ClaimKey(String session, long number) {

    static ClaimKey of(LockInfo.Holder holder) {
        return new ClaimKey(holder.session(), holder.claim());
    }

    static ClaimKey of(LockInfo.Waiter waiter) {
        return new ClaimKey(waiter.session(), waiter.claim());
    }
}
