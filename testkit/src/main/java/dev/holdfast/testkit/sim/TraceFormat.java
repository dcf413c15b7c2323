package dev.holdfast.testkit.sim;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;

/** Formats commands and replies for the trace, and numbers them for its hash, the same in every run. */
final class TraceFormat {

    private TraceFormat() {}

    static String of(Command command) {
        if (command instanceof Command.Acquire acquire) {
            return "Acquire " + acquire.claim() + " epoch " + acquire.epoch() + " " + acquire.waiting() + " "
                    + acquire.sending() + " lease " + acquire.lease().length().toMillis() + " ms tokens "
                    + acquire.tokens();
        } else if (command instanceof Command.Yield yield) {
            return "Yield " + yield.claim() + " for " + of(yield.next());
        }
        return command.toString();
    }

    static String of(Reply reply) {
        return reply.toString();
    }

    static String of(Signal signal) {
        return signal.toString();
    }

    /** A number for the hash of the trace; hashes of records with enums differ from run to run. */
    static long number(Command command) {
        long kind = command.getClass().getName().hashCode();
        if (command instanceof Command.Yield yield) {
            return kind * 31 + number(yield.claim()) * 31 + number(yield.next());
        } else if (command instanceof Command.Acquire acquire) {
            return kind * 31 + number(acquire.claim()) * 31 + acquire.epoch() * 7 + acquire.tokens();
        } else if (command instanceof Command.OnClaim claim) {
            return kind * 31 + number(claim.claim());
        } else if (command instanceof Command.KeepAlive alive) {
            return kind * 31 + alive.session().value().hashCode() * 31L + alive.epoch();
        } else if (command instanceof Command.Poll poll) {
            long sum = kind;
            for (ClaimRef claim : poll.claims()) {
                sum = sum * 31 + number(claim);
            }
            return sum;
        }
        return kind;
    }

    static long number(Reply reply) {
        long kind = reply.getClass().getName().hashCode();
        if (reply instanceof Reply.Granted granted) {
            return kind * 31 + granted.tokens().first() * 31 + granted.tokens().last();
        } else if (reply instanceof Reply.SessionOpened opened) {
            return kind * 31 + opened.session().value().hashCode();
        } else if (reply instanceof Reply.Queued queued) {
            return kind * 31 + queued.recheckIn().toNanos();
        }
        return kind;
    }

    private static long number(ClaimRef claim) {
        return (claim.resource().value().hashCode() * 31L
                                + claim.session().value().hashCode())
                        * 31
                + claim.claim();
    }
}
