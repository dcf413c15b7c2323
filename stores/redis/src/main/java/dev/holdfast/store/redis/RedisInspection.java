package dev.holdfast.store.redis;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.DamagedRecord;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Stages;
import dev.holdfast.store.redis.connection.RedisFailures;
import dev.holdfast.store.redis.script.BucketLayout;
import dev.holdfast.store.redis.script.ScriptCall;
import dev.holdfast.store.redis.script.ScriptReply;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One page of an inspection. The names in use are the fields of a hash, which the server lists in parts and in its own
 * order. A part may be larger than a page; then it is sorted and read again for each page.
 *
 * <p>The cursor is the server's cursor for a part, and the last name of that part on the page.
 */
final class RedisInspection {

    private static final int LARGEST_PART = 1_000;

    /** The maximum number of names on a page, all of which one call of the script inspects. */
    static final int LARGEST_PAGE = 200;

    private final CommandPipeline pipeline;
    private final StatefulRedisConnection<byte[], byte[]> connection;
    private final byte[] hash;
    private final String server;
    private final Duration timeout;
    private final Command.Inspect command;
    private final String cursor;
    private final int limit;
    private final List<ResourceName> page = new ArrayList<>();

    /** For each name, the server's cursor for its part. */
    private final List<String> parts = new ArrayList<>();

    RedisInspection(
            CommandPipeline pipeline,
            StatefulRedisConnection<byte[], byte[]> connection,
            byte[] hash,
            String server,
            Duration timeout,
            Command.Inspect command,
            int limit,
            String cursor) {
        this.pipeline = pipeline;
        this.connection = connection;
        this.hash = hash;
        this.server = server;
        this.timeout = timeout;
        this.command = command;
        this.cursor = cursor;
        this.limit = Math.min(limit, LARGEST_PAGE);
    }

    CompletionStage<Reply.Inspected> run() {
        int space = cursor.indexOf(' ');
        if (space < 0) {
            return CompletableFuture.failedFuture(new IllegalArgumentException("Not a valid cursor: '" + cursor + "'"));
        }
        String last = cursor.substring(space + 1);
        return scan(cursor.substring(0, space), last.isEmpty() ? null : new ResourceName(last));
    }

    private CompletionStage<Reply.Inspected> scan(String from, @Nullable ResourceName after) {
        if (isWaited()) {
            return pipeline.submit(ScriptCall.listWaited(from, pattern(command.prefix()), LARGEST_PART))
                    .thenCompose(part -> addNames(
                            from,
                            after,
                            part.names(),
                            part.cursor(),
                            part.cursor().equals("0")));
        }
        // The same for all pages, because it determines what a part contains.
        ScanArgs args = ScanArgs.Builder.matches(pattern(command.prefix()))
                .limit(Math.max(10, Math.min(command.limit(), LARGEST_PART)));
        return connection
                .async()
                .hscan(hash, ScanCursor.of(from), args)
                .toCompletableFuture()
                .orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS)
                .exceptionallyCompose(
                        failure -> CompletableFuture.failedFuture(RedisFailures.ofRequest(failure, server)))
                .thenCompose(
                        part -> addNames(from, after, part.getMap().keySet(), part.getCursor(), part.isFinished()));
    }

    private boolean isWaited() {
        return command.scope() == Command.Inspect.Scope.WAITED;
    }

    private CompletionStage<Reply.Inspected> addNames(
            String from, @Nullable ResourceName after, Collection<byte[]> part, String nextPart, boolean isLast) {
        TreeSet<ResourceName> names = new TreeSet<>();
        part.stream()
                .filter(BucketLayout::isName)
                .forEach(key -> names.add(new ResourceName(new String(key, StandardCharsets.UTF_8))));
        ResourceName last = after;
        for (ResourceName name : after == null ? names : names.tailSet(after, false)) {
            if (page.size() == limit) {
                return report(Optional.of(from + " " + (last == null ? "" : last.value())));
            }
            page.add(name);
            parts.add(from);
            last = name;
        }
        if (isLast) {
            return report(Optional.empty());
        }
        return page.size() == limit ? report(Optional.of(nextPart + " ")) : scan(nextPart, null);
    }

    private CompletionStage<Reply.Inspected> report(Optional<String> next) {
        if (page.isEmpty()) {
            return CompletableFuture.completedFuture(new Reply.Inspected(List.of(), next));
        }
        List<byte[]> names = page.stream().map(ResourceName::utf8).toList();
        return pipeline.submit(ScriptCall.inspect(names))
                .thenApply(answer -> {
                    List<ResourceInfo> infos = new ArrayList<>(page.size());
                    List<ScriptReply> answers = answer.each();
                    for (int i = 0; i < page.size(); i++) {
                        if (answers.get(i).isLeftOut()) {
                            // The first name is never skipped.
                            return new Reply.Inspected(
                                    infos,
                                    Optional.of(parts.get(i - 1) + " "
                                            + page.get(i - 1).value()));
                        }
                        add(answers.get(i).info(page.get(i)), infos);
                    }
                    return new Reply.Inspected(infos, next);
                })
                .exceptionallyCompose(
                        failure -> isDamage(failure) ? eachAlone(next) : CompletableFuture.failedFuture(failure));
    }

    /** Inspects each name separately, so that a damaged one doesn't hide the others. */
    private CompletionStage<Reply.Inspected> eachAlone(Optional<String> next) {
        List<ResourceInfo> infos = new ArrayList<>(page.size());
        List<DamagedRecord> damaged = new ArrayList<>();
        CompletionStage<?> all = CompletableFuture.completedFuture(null);
        for (ResourceName name : page) {
            all = all.thenCompose(before -> pipeline.submit(ScriptCall.inspect(List.of(name.utf8()))))
                    .thenAccept(answer -> add(answer.each().get(0).info(name), infos))
                    .exceptionallyCompose(failure -> {
                        if (!isDamage(failure)) {
                            return CompletableFuture.failedFuture(failure);
                        }
                        damaged.add(new DamagedRecord(
                                name.value(),
                                String.valueOf(Stages.causeOf(failure).getMessage())));
                        return CompletableFuture.completedFuture(null);
                    });
        }
        return all.thenApply(done -> new Reply.Inspected(infos, damaged, next));
    }

    /** Adds what was found, unless the waiters that were to be listed have ended meanwhile. */
    private void add(Optional<ResourceInfo> found, List<ResourceInfo> infos) {
        found.filter(info -> !isWaited() || info.waiting() > 0).ifPresent(infos::add);
    }

    private static boolean isDamage(Throwable failure) {
        return Stages.causeOf(failure) instanceof StoreException known
                && known.reason() == StoreException.Reason.CORRUPT;
    }

    /** A pattern for this prefix, with special characters escaped. */
    private static byte[] pattern(String prefix) {
        ByteArrayOutputStream pattern = new ByteArrayOutputStream();
        for (byte b : prefix.getBytes(StandardCharsets.UTF_8)) {
            if (b == '*' || b == '?' || b == '[' || b == ']' || b == '\\') {
                pattern.write('\\');
            }
            pattern.write(b);
        }
        pattern.write('*');
        return pattern.toByteArray();
    }
}
