package dev.holdfast.engine;

import dev.holdfast.spi.Caller;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Asks the store once what it records about a resource. */
final class ResourceLook implements Wire.Answer {

    /** Where names come in any order, the one that is looked for may be anywhere among those that begin so. */
    private static final int PAGE = 100;

    private final Engine engine;
    private final ResourceName name;
    private final Caller caller;
    private final CompletableFuture<Optional<ResourceInfo>> answer = new CompletableFuture<>();

    private ResourceLook(Engine engine, ResourceName name, Caller caller) {
        this.engine = engine;
        this.name = name;
        this.caller = caller;
    }

    /** Ends with what is recorded, empty if the resource is not in use; or fails with a {@link StoreException}. */
    static CompletableFuture<Optional<ResourceInfo>> ask(Engine engine, ResourceName name, Caller caller) {
        ResourceLook look = new ResourceLook(engine, name, caller);
        look.page(Optional.empty());
        return look.answer;
    }

    private void page(Optional<String> cursor) {
        // In the order of the names it is the first of all that begin so.
        int limit = engine.inspectsInOrder() ? 1 : PAGE;
        engine.part(name)
                .wire
                .send(new Command.Inspect(name.value(), cursor, limit, Command.Inspect.Scope.NAME), caller, this);
    }

    @Override
    public void reply(Reply reply, long sentAt) {
        if (!(reply instanceof Reply.Inspected inspected)) {
            failure(Unexpected.reply(reply), sentAt);
            return;
        }
        Optional<ResourceInfo> found = inspected.resources().stream()
                .filter(info -> info.name().equals(name))
                .findFirst();
        if (found.isPresent() || inspected.cursor().isEmpty() || engine.inspectsInOrder()) {
            answer.complete(found);
        } else {
            page(inspected.cursor());
        }
    }

    @Override
    public void failure(StoreException failure, long sentAt) {
        answer.completeExceptionally(failure);
    }
}
