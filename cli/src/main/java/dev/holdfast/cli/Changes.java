package dev.holdfast.cli;

import dev.holdfast.admin.LockAdmin;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.LockPage;
import dev.holdfast.admin.LockQuery;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Json;
import dev.holdfast.cli.store.StoreLocation;
import dev.holdfast.cli.store.Stores;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** {@code holdfast watch}: polls the store and prints each change as a line of JSON. */
final class Changes {

    private final StoreLocation location;
    private final Console console;

    // What was printed last, by the name of the lock.
    private Map<String, List<Object>> printed = new TreeMap<>();

    Changes(StoreLocation location, Console console) {
        this.location = location;
        this.console = console;
    }

    /**
     * Prints until the output is closed, or this process is ended.
     *
     * @return the exit code
     */
    int print(String prefix, Duration interval) throws InterruptedException {
        while (console.isPrinted()) {
            Optional<Boolean> opened = Stores.ask(location, admin -> follow(admin, prefix, interval));
            if (opened.isEmpty()) {
                report(List.of()); // the file of a local store doesn't exist yet, or no longer
            }
            TimeUnit.NANOSECONDS.sleep(interval.toNanos());
        }
        return ExitCode.OUTPUT_FAILED;
    }

    /** Polls a store that is open until the output is closed. */
    private boolean follow(LockAdmin admin, String prefix, Duration interval) {
        while (console.isPrinted()) {
            report(inUse(admin, prefix));
            try {
                TimeUnit.NANOSECONDS.sleep(interval.toNanos());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return false;
    }

    private static List<LockInfo> inUse(LockAdmin admin, String prefix) {
        List<LockInfo> found = new ArrayList<>();
        Optional<LockQuery> next = Optional.of(LockQuery.startingWith(prefix));
        while (next.isPresent()) {
            LockPage page = admin.inspect(next.get());
            for (LockInfo info : page.locks()) {
                if (!info.holders().isEmpty() || info.waiting() > 0) {
                    found.add(info);
                }
            }
            next = page.next();
        }
        return found;
    }

    private void report(List<LockInfo> inUse) {
        Map<String, List<Object>> before = printed;
        printed = new TreeMap<>();
        for (LockInfo info : inUse) {
            List<Object> key = key(info);
            printed.put(info.name(), key);
            if (!key.equals(before.remove(info.name()))) {
                Json json = begin();
                Inspection.writeFields(json, info);
                console.print(json.endObject().toString());
            }
        }
        before.keySet()
                .forEach(name -> console.print(begin().field("name", name)
                        .field("state", "free")
                        .endObject()
                        .toString()));
    }

    private static Json begin() {
        return new Json().beginObject().field("time", Instant.now().toString());
    }

    /** Differs when others hold the lock or wait for it; the lease changes all the time. */
    private static List<Object> key(LockInfo info) {
        List<Object> key = new ArrayList<>();
        for (LockInfo.Holder holder : info.holders()) {
            key.add(holder.session());
            key.add(holder.claim());
            key.add(holder.token());
        }
        key.add("");
        for (LockInfo.Waiter waiter : info.waiters()) {
            key.add(waiter.session());
            key.add(waiter.claim());
        }
        key.add(info.waiting());
        return key;
    }
}
