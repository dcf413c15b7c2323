package dev.holdfast.cli;

import dev.holdfast.admin.DamagedLock;
import dev.holdfast.admin.LockAdmin;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.LockPage;
import dev.holdfast.admin.LockQuery;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Json;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.cli.store.Holders;
import dev.holdfast.cli.store.StoreLocation;
import dev.holdfast.cli.store.Stores;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** {@code holdfast ls} and {@code holdfast show}. */
final class Inspection {

    private final StoreLocation location;
    private final Console console;

    Inspection(StoreLocation location, Console console) {
        this.location = location;
        this.console = console;
    }

    /** Lists what is held or waited for, and damaged records; returns the exit code. */
    int list(String prefix, boolean json) throws InterruptedException {
        Json all = new Json().beginArray();
        List<DamagedLock> damaged = new ArrayList<>();
        int listed = Stores.ask(location, console, admin -> list(admin, prefix, json ? all : null, damaged))
                .orElse(0);
        if (json) {
            console.print(all.endArray().toString());
        } else if (listed == 0 && damaged.isEmpty() && console.isTerminal()) {
            String which = prefix.isEmpty() ? "no lock" : "no lock whose name begins with " + Printable.quote(prefix);
            console.say(which + " is held or has waiters in " + location.describe());
        }
        if (damaged.isEmpty()) {
            return ExitCode.OK;
        }
        console.say(warning(damaged));
        return ExitCode.STORE_UNUSABLE;
    }

    private String warning(List<DamagedLock> damaged) {
        DamagedLock first = damaged.get(0);
        String which = Printable.quote(first.name());
        String subject = damaged.size() == 1
                ? "the record of " + which + " is damaged"
                : damaged.size() + " records are damaged; the first is that of " + which;
        return "store " + location + ": " + subject + ": " + Printable.escape(first.reason());
    }

    /** Prints locks page by page and returns their number, without unused names of which only the token is left. */
    private int list(LockAdmin admin, String prefix, @Nullable Json all, List<DamagedLock> damaged) {
        int listed = 0;
        Optional<LockQuery> next = Optional.of(LockQuery.startingWith(prefix));
        while (next.isPresent()) {
            LockPage page = admin.inspect(next.get());
            for (LockInfo info : page.locks()) {
                if (!info.holders().isEmpty() || info.waiting() > 0) {
                    listed++;
                    list(info, all);
                }
            }
            page.damaged().forEach(lock -> list(lock, all));
            damaged.addAll(page.damaged());
            next = page.next();
        }
        return listed;
    }

    private void list(DamagedLock lock, @Nullable Json all) {
        if (all == null) {
            console.print(Printable.quote(lock.name()) + ": damaged");
        } else {
            all.beginObject()
                    .field("name", lock.name())
                    .field("state", "damaged")
                    .field("reason", lock.reason())
                    .endObject();
        }
    }

    private void list(LockInfo info, @Nullable Json all) {
        if (all == null) {
            console.print(Printable.quote(info.name()) + ": " + summary(info));
        } else {
            write(all, info);
        }
    }

    /** Shows one lock. */
    void show(String name, boolean json) throws InterruptedException {
        Optional<LockInfo> found =
                Stores.ask(location, console, admin -> admin.inspect(name)).flatMap(info -> info);
        if (found.isEmpty()) {
            showNothing(name, json);
        } else if (json) {
            Json one = new Json();
            write(one, found.get());
            console.print(one.toString());
        } else {
            printAll(found.get());
        }
    }

    private void showNothing(String name, boolean json) {
        console.print(
                json
                        ? new Json()
                                .beginObject()
                                .field("name", name)
                                .field("state", "free")
                                .endObject()
                                .toString()
                        : Printable.quote(name) + ": free");
    }

    private void printAll(LockInfo info) {
        console.print(Printable.quote(info.name()) + ": " + state(info) + " (" + kind(info) + ", " + lower(info.order())
                + ")");
        for (LockInfo.Holder holder : info.holders()) {
            String since = holder.since().map(instant -> " since " + instant).orElse("");
            console.print("  held by   " + Holders.label(holder.label()) + since
                    + (holder.token() == 0 ? "" : ", token " + holder.token()) + weight(info, holder.weight())
                    + ", lease " + DurationText.format(holder.leaseLeft()) + " left"
                    + Holders.message(holder));
        }
        for (LockInfo.Waiter waiter : info.waiters()) {
            String waited = waiter.waited()
                    .map(time -> " for " + DurationText.format(time))
                    .orElse("");
            console.print("  waiting   " + Holders.label(waiter.label()) + waited + weight(info, waiter.weight()));
        }
        long more = info.waiting() - info.waiters().size();
        if (more > 0) {
            console.print("  waiting   " + more + " more");
        }
        if (info.newestToken() > 0) {
            console.print("  newest token " + info.newestToken());
        }
    }

    private static String summary(LockInfo info) {
        String waiting = info.holders().isEmpty() || info.waiting() == 0 ? "" : ", " + info.waiting() + " waiting";
        return Holders.describe(info) + waiting;
    }

    private static void write(Json json, LockInfo info) {
        json.beginObject();
        writeFields(json, info);
        json.endObject();
    }

    /** The fields of a lock in use. */
    static void writeFields(Json json, LockInfo info) {
        json.field("name", info.name())
                .field("state", state(info))
                .field("kind", lower(info.kind()))
                .field("order", lower(info.order()))
                .field("capacity", info.capacity())
                .field("holding", info.holding())
                .name("holders")
                .beginArray();
        for (LockInfo.Holder holder : info.holders()) {
            begin(json, holder.label(), holder.session(), holder.claim(), holder.weight());
            if (holder.token() > 0) {
                json.field("token", Long.toString(holder.token()));
            }
            holder.since().ifPresent(since -> json.field("since", since.toString()));
            if (!holder.message().isEmpty()) {
                json.field("message", holder.message());
            }
            end(json, holder.leaseLeft(), holder.sessionTtl());
        }
        json.endArray().field("waiting", info.waiting()).name("waiters").beginArray();
        for (LockInfo.Waiter waiter : info.waiters()) {
            begin(json, waiter.label(), waiter.session(), waiter.claim(), waiter.weight());
            waiter.waited().ifPresent(time -> json.field("waitedMillis", time.toMillis()));
            end(json, waiter.leaseLeft(), waiter.sessionTtl());
        }
        json.endArray().field("newestToken", Long.toString(info.newestToken()));
    }

    private static void begin(Json json, String owner, String session, long claim, int weight) {
        json.beginObject()
                .field("owner", owner)
                .field("session", session)
                .field("claim", Long.toString(claim))
                .field("weight", weight);
    }

    private static void end(Json json, Duration leaseLeft, Duration sessionTtl) {
        json.field("leaseLeftMillis", leaseLeft.toMillis());
        if (!sessionTtl.isZero()) {
            json.field("sessionTtlMillis", sessionTtl.toMillis());
        }
        json.endObject();
    }

    private static String state(LockInfo info) {
        return !info.holders().isEmpty() ? "held" : info.waiting() > 0 ? "waited for" : "free";
    }

    private static String kind(LockInfo info) {
        int capacity = info.capacity();
        return lower(info.kind()) + (capacity == 1 || capacity == Integer.MAX_VALUE ? "" : " of " + capacity);
    }

    private static String weight(LockInfo info, int weight) {
        return switch (info.kind()) {
            case READ_WRITE -> weight == 1 ? ", shared" : ", exclusive";
            case SEMAPHORE -> ", " + weight + (weight == 1 ? " permit" : " permits");
            default -> info.capacity() == 1 ? "" : ", weight " + weight;
        };
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
