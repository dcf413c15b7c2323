package dev.holdfast.store.register.client;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The commands on sessions. Thread-safe. */
final class SessionCommands {

    /** The epoch of a retired session; commands stay below it. */
    private static final long RETIRED = Long.MAX_VALUE;

    private final Context context;

    SessionCommands(Context context) {
        this.context = context;
    }

    CompletionStage<Reply> open(Command.OpenSession command) {
        Duration longest = context.adapter().traits().maxSessionTtl();
        if (command.ttl().compareTo(longest) > 0) {
            return CompletableFuture.failedFuture(new StoreException(
                    StoreException.Reason.DENIED,
                    StoreException.Effect.NONE,
                    "a session of " + DurationFormat.format(command.ttl())
                            + " was requested, but the longest session of this store is "
                            + DurationFormat.format(longest)
                            + ": request a shorter one, or raise the limit of the server",
                    null));
        }
        return context.adapter().openSession(command.ttl(), command.label()).thenApply(opened -> {
            context.sessions().opened(opened, command.label());
            return new Reply.SessionOpened(opened.id(), opened.ttl());
        });
    }

    CompletionStage<Reply> keepAlive(Command.KeepAlive command) {
        if (command.epoch() <= context.sessions().epoch(command.session())) {
            return renew(command);
        }
        return raise(command.session(), command.epoch())
                .thenCompose(present -> present.isPresent() && present.get() == command.epoch()
                        ? renew(command)
                        : CompletableFuture.completedFuture(reply(present, command.epoch())));
    }

    private CompletionStage<Reply> renew(Command.KeepAlive command) {
        SessionId session = command.session();
        return context.adapter()
                .keepAlive(session, command.epoch(), command.responseTimeout())
                .thenApply(present -> reply(learn(session, present), command.epoch()));
    }

    private static Reply reply(Optional<Long> present, long epoch) {
        if (present.isEmpty()) {
            return new Reply.SessionEnded();
        }
        return present.get() > epoch ? new Reply.Stale() : new Reply.SessionAlive();
    }

    private CompletionStage<Optional<Long>> raise(SessionId session, long epoch) {
        return context.adapter().raiseEpoch(session, epoch).thenApply(present -> learn(session, present));
    }

    private Optional<Long> learn(SessionId session, Optional<Long> present) {
        present.ifPresentOrElse(epoch -> context.sessions().epoch(session, epoch), () -> context.gone(session));
        return present;
    }

    CompletionStage<Reply> retire(Command.Retire command) {
        return raise(command.session(), RETIRED).thenApply(present -> new Reply.Done());
    }

    CompletionStage<Reply> close(Command.CloseSession command) {
        return context.adapter().closeSession(command.session()).thenApply(closed -> {
            context.gone(command.session());
            return new Reply.Done();
        });
    }
}
