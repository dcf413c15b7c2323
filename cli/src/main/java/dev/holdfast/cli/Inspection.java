package dev.holdfast.cli;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.StoreTraits.TokenSource;
import java.util.List;
import java.util.Optional;

/** {@code holdfast ls} and {@code holdfast show}. */
final class Inspection {

    private final StoreLocation location;
    private final Console console;

    Inspection(StoreLocation location, Console console) {
        this.location = location;
        this.console = console;
    }

    /** Lists what is held or waited for. */
    void list(String prefix, boolean json) throws InterruptedException {
        Json all = new Json().beginArray();
        boolean[] isEmpty = {true};
        Optional<LockStore> opened = Stores.openToLook(location, console);
        if (opened.isPresent()) {
            try (LockStore store = opened.get()) {
                TokenSource tokens = store.traits().tokenSource();
                Holders.forEach(store, location, prefix, info -> {
                    if (info.holders().isEmpty() && info.waiting() == 0) {
                        return; // only the counter of its tokens is left
                    }
                    isEmpty[0] = false;
                    if (json) {
                        write(all, info, tokens);
                    } else {
                        console.print(Printable.quote(info.name().value()) + ": " + summary(info, tokens));
                    }
                });
            }
        }
        if (json) {
            console.print(all.endArray().toString());
        } else if (isEmpty[0] && console.isTerminal()) {
            String which = prefix.isEmpty() ? "nothing" : "nothing that begins with " + Printable.quote(prefix);
            console.say(which + " is held or waited for in " + location.describe());
        }
    }

    /** Shows one lock. */
    void show(String name, boolean json) throws InterruptedException {
        Optional<LockStore> opened = Stores.openToLook(location, console);
        if (opened.isEmpty()) {
            showNothing(name, json);
            return;
        }
        try (LockStore store = opened.get()) {
            TokenSource tokens = store.traits().tokenSource();
            Optional<ResourceInfo> found = Holders.find(store, location, name);
            if (found.isEmpty()) {
                showNothing(name, json);
            } else if (json) {
                Json one = new Json();
                write(one, found.get(), tokens);
                console.print(one.toString());
            } else {
                printAll(found.get(), tokens);
            }
        }
    }

    private void showNothing(String name, boolean json) {
        console.print(
                json
                        ? new Json()
                                .beginObject()
                                .name("name")
                                .value(name)
                                .name("state")
                                .value("free")
                                .endObject()
                                .toString()
                        : Printable.quote(name) + ": free");
    }

    private void printAll(ResourceInfo info, TokenSource tokens) {
        console.print(Printable.quote(info.name().value()) + ": " + state(info) + " (" + kind(info) + ", "
                + lower(info.spec().order()) + ")");
        for (Party holder : info.holders()) {
            StringBuilder line = new StringBuilder("  held by   ").append(Holders.label(holder));
            Holders.since(holder, tokens)
                    .ifPresent(since -> line.append(" since ").append(since));
            holder.tokens().ifPresent(block -> line.append(", token ").append(block.first()));
            weight(info, holder, line);
            console.print(line.append(", lease ")
                    .append(DurationText.format(holder.remaining()))
                    .append(" left")
                    .toString());
        }
        for (Party waiter : info.waiters()) {
            StringBuilder line = new StringBuilder("  waiting   ").append(Holders.label(waiter));
            weight(info, waiter, line);
            console.print(line.toString());
        }
        long more = info.waiting() - info.waiters().size();
        if (more > 0) {
            console.print("  waiting   " + more + " more");
        }
        if (info.lastToken() > 0) {
            console.print("  newest token " + info.lastToken());
        }
    }

    private static String summary(ResourceInfo info, TokenSource tokens) {
        String waiting = info.holders().isEmpty() || info.waiting() == 0 ? "" : ", " + info.waiting() + " waiting";
        return Holders.describe(info, tokens) + waiting;
    }

    private static void write(Json json, ResourceInfo info, TokenSource tokens) {
        json.beginObject()
                .name("name")
                .value(info.name().value())
                .name("state")
                .value(state(info))
                .name("kind")
                .value(lower(info.spec().kind()))
                .name("order")
                .value(lower(info.spec().order()))
                .name("capacity")
                .value(info.spec().capacity())
                .name("holding")
                .value(info.holding())
                .name("holders");
        write(json, info.holders(), tokens);
        json.name("waiting").value(info.waiting()).name("waiters");
        write(json, info.waiters(), tokens);
        json.name("newestToken").value(Long.toString(info.lastToken())).endObject();
    }

    private static void write(Json json, List<Party> parties, TokenSource tokens) {
        json.beginArray();
        for (Party party : parties) {
            json.beginObject()
                    .name("owner")
                    .value(party.label())
                    .name("session")
                    .value(party.claim().session().value())
                    .name("claim")
                    .value(Long.toString(party.claim().claim()))
                    .name("weight")
                    .value(party.weight());
            party.tokens().ifPresent(block -> json.name("token").value(Long.toString(block.first())));
            Holders.since(party, tokens).ifPresent(since -> json.name("since").value(since.toString()));
            json.name("leaseLeftMillis")
                    .value(Math.max(0, party.remaining().toMillis()))
                    .endObject();
        }
        json.endArray();
    }

    private static String state(ResourceInfo info) {
        return !info.holders().isEmpty() ? "held" : info.waiting() > 0 ? "waited for" : "free";
    }

    private static String kind(ResourceInfo info) {
        int capacity = info.spec().capacity();
        return lower(info.spec().kind()) + (capacity == 1 || capacity == Integer.MAX_VALUE ? "" : " of " + capacity);
    }

    private static void weight(ResourceInfo info, Party party, StringBuilder line) {
        switch (info.spec().kind()) {
            case READ_WRITE -> line.append(party.weight() == 1 ? ", shared" : ", exclusive");
            case SEMAPHORE ->
                line.append(", ").append(party.weight()).append(party.weight() == 1 ? " permit" : " permits");
            default -> {
                if (info.spec().capacity() != 1) {
                    line.append(", weight ").append(party.weight());
                }
            }
        }
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    }
}
