package dev.holdfast.cli.store;

import dev.holdfast.admin.LockInfo;
import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.Printable;

/** Describes the holders of a lock. */
public final class Holders {

    private Holders() {}

    /** Such as {@code held by ann@web1 pid 12 'a.sh' since 2026-01-02T03:04:05Z, lease 24s left: "release 4.2"}. */
    public static String describe(LockInfo info) {
        if (info.holders().isEmpty()) {
            return info.waiting() == 0
                    ? "free"
                    : "free, about to be granted to the first of " + info.waiting() + " waiting";
        }
        LockInfo.Holder holder = info.holders().get(0);
        StringBuilder text = new StringBuilder("held by ").append(label(holder.label()));
        holder.since().ifPresent(instant -> text.append(" since ").append(instant));
        text.append(", lease ").append(DurationText.format(holder.leaseLeft())).append(" left");
        text.append(message(holder));
        long others = info.holding() - 1;
        if (others > 0) {
            text.append(", and by ").append(others).append(others == 1 ? " other" : " others");
        }
        return text.toString();
    }

    /** Such as {@code : "release 4.2"}, safe to print; empty without a message. */
    public static String message(LockInfo.Holder holder) {
        return holder.message().isEmpty() ? "" : ": \"" + Printable.escape(holder.message()) + "\"";
    }

    /** The label of a holder, safe to print. */
    public static String label(String label) {
        return label.isBlank() ? "an unnamed client" : Printable.escape(label);
    }
}
