package dev.holdfast.test;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Inspect.Scope;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What the store in memory records, read past all faults: what the program holds, and what others hold. */
final class StoreRecord {

    private final LockStore store;
    private final String elsewhere;

    /** @param elsewhere the label of the client that is not the program's */
    StoreRecord(LockStore store, String elsewhere) {
        this.store = store;
        this.elsewhere = elsewhere;
    }

    boolean isFree(String name) {
        return find(name).map(found -> found.holding() == 0).orElse(true);
    }

    boolean isHeldByProgram(String name) {
        return !ofProgram(name).isEmpty();
    }

    /** The names that the program holds. */
    List<String> heldByProgram() {
        return all().stream()
                .filter(one -> !ofProgram(one).isEmpty())
                .map(one -> one.name().value())
                .toList();
    }

    /** Releases by force what the program holds of a name. */
    void takeFromProgram(String name) {
        for (Party holder : ofProgram(name)) {
            end(new ResourceName(name), holder);
        }
    }

    private void end(ResourceName name, Party holder) {
        var unused =
                ask(new Command.ForceRelease(name, holder.tokens().orElseThrow().last()));
    }

    /** Releases tasks that have ended but keep their names for their least time. */
    void forgetTasks(Predicate<String> isRunning) {
        for (ResourceInfo each : all()) {
            if (each.spec().kind() == Kind.TASK && !isRunning.test(each.name().value())) {
                each.holders().forEach(holder -> end(each.name(), holder));
            }
        }
    }

    /** All resources that are held or waited for, and latches that are not open. */
    List<ResourceInfo> all() {
        return inspect(new Command.Inspect("", Optional.empty(), Integer.MAX_VALUE));
    }

    /** A sentence that names the holders. */
    String state(String name) {
        List<Party> all = find(name).map(ResourceInfo::holders).orElse(List.of());
        return all.isEmpty()
                ? "it is free"
                : all.stream().map(Party::label).distinct().collect(Collectors.joining("' and '", "'", "' holds it"));
    }

    private List<Party> ofProgram(String name) {
        return find(name).map(this::ofProgram).orElse(List.of());
    }

    private List<Party> ofProgram(ResourceInfo resource) {
        return resource.holders().stream()
                .filter(holder -> !holder.label().equals(elsewhere))
                .toList();
    }

    private Optional<ResourceInfo> find(String name) {
        return inspect(new Command.Inspect(name, Optional.empty(), Integer.MAX_VALUE, Scope.NAME)).stream()
                .findFirst();
    }

    private List<ResourceInfo> inspect(Command.Inspect question) {
        return ask(question) instanceof Reply.Inspected answer ? answer.resources() : List.of();
    }

    /** The store in memory replies at once. */
    private Reply ask(Command command) {
        return store.execute(command, CallerMode.ASYNC).toCompletableFuture().join();
    }
}
