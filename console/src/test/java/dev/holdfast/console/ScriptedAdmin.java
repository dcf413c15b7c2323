package dev.holdfast.console;

import dev.holdfast.admin.LockAdmin;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.LockPage;
import dev.holdfast.admin.LockQuery;
import dev.holdfast.admin.RecordedRun;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A store whose records a test sets, and that counts what it is asked. */
public final class ScriptedAdmin {

    /** Its records. */
    final NavigableMap<String, LockInfo> locks = new ConcurrentSkipListMap<>();

    /** Its histories. */
    final Map<String, List<RecordedRun>> runs = new ConcurrentHashMap<>();

    /** What it was asked, in order. */
    final List<String> requests = new CopyOnWriteArrayList<>();

    volatile Throwable failure;
    /** Of histories only. */
    volatile Throwable runsFailure;

    volatile int pageSize = 1_000;
    private final LockAdmin admin = (LockAdmin) Proxy.newProxyInstance(
            LockAdmin.class.getClassLoader(),
            new Class<?>[] {LockAdmin.class},
            (proxy, method, arguments) -> answer(method.getName(), arguments));

    /** The operator's view of it. */
    public LockAdmin admin() {
        return admin;
    }

    /** What it was asked, in order. */
    public List<String> requests() {
        return requests;
    }

    /** Adds or replaces a record. */
    public void put(LockInfo info) {
        locks.put(info.name(), info);
    }

    private Object answer(String method, Object[] arguments) throws Throwable {
        if (failure != null) {
            requests.add("failed");
            throw failure;
        }
        if (method.equals("forceRelease")) {
            requests.add("release " + arguments[0] + " " + arguments[1]);
            return release((String) arguments[0], (Long) arguments[1]);
        } else if (method.equals("inspect") && arguments[0] instanceof String name) {
            requests.add("inspect " + name);
            return Optional.ofNullable(locks.get(name));
        } else if (method.equals("inspect")) {
            LockQuery query = (LockQuery) arguments[0];
            requests.add((query.isWaited() ? "waited" : "page") + " after "
                    + query.cursor().orElse("-"));
            return page(query);
        }
        if (method.equals("runs")) {
            requests.add("runs " + arguments[0]);
            if (runsFailure != null) {
                throw runsFailure;
            }
            return runs.getOrDefault((String) arguments[0], List.of());
        }
        throw new UnsupportedOperationException(method);
    }

    private LockPage page(LockQuery query) {
        Map<String, LockInfo> rest = locks.tailMap(query.cursor().orElse(""), false);
        List<LockInfo> page = rest.values().stream()
                .filter(info -> info.name().startsWith(query.prefix()) && (!query.isWaited() || info.waiting() > 0))
                .limit(Math.min(pageSize, query.limit()))
                .toList();
        boolean isLast = page.size() < pageSize;
        return new LockPage(
                page,
                isLast
                        ? Optional.empty()
                        : Optional.of(query.after(page.get(page.size() - 1).name())));
    }

    private boolean release(String name, long token) {
        LockInfo info = locks.get(name);
        boolean isThere = info != null && info.holders().stream().anyMatch(holder -> holder.token() == token);
        if (isThere) {
            locks.put(name, Records.mutex(name, List.of(), List.of()));
        }
        return isThere;
    }
}
