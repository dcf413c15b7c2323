package dev.holdfast.engine.admin;

import dev.holdfast.admin.DamagedLock;
import dev.holdfast.admin.LockAdmin;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.LockPage;
import dev.holdfast.admin.LockQuery;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.client.Failures;
import dev.holdfast.engine.client.LockViews;
import dev.holdfast.engine.client.RunText;
import dev.holdfast.engine.execution.SystemEnvironment;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.engine.wire.ProtocolViolation;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Stages;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Function;

/** The operator's view of a store, with or without a client. Thread-safe. */
public final class StoreAdmin implements LockAdmin {

    private final StoreQuestions questions;
    private final Failures failures;
    private final LockViews views;

    private StoreAdmin(StoreQuestions questions, Failures failures, LockViews views) {
        this.questions = questions;
        this.failures = failures;
        this.views = views;
    }

    /** The view of a store without a client. */
    public static StoreAdmin of(LockStore store, Duration timeout) {
        return new StoreAdmin(
                new DirectQuestions(store, timeout, ForkJoinPool.commonPool()),
                new Failures(store.traits().product()),
                new LockViews(store.traits().tokenSource(), SystemEnvironment::wallClock));
    }

    /** The view of a client, which ends with it. */
    public static StoreAdmin of(ClientContext context, CommandSender sender) {
        return new StoreAdmin(new ClientQuestions(context, sender), context.failures(), context.views());
    }

    // ---- One name

    @Override
    public Optional<LockInfo> inspect(String name) {
        return await(find(new ResourceName(name), CallerMode.BLOCKING));
    }

    @Override
    public CompletionStage<Optional<LockInfo>> inspectAsync(String name) {
        return questions.forUsers(find(new ResourceName(name), CallerMode.ASYNC));
    }

    private CompletableFuture<Optional<LockInfo>> find(ResourceName name, CallerMode caller) {
        return resultOf(
                new HolderPages(questions, name, caller).collect(),
                pages -> pages.map(found -> views.of(found.first(), found.holders())),
                failure -> failures.ofInspection(name.value(), failure));
    }

    // ---- Many names

    @Override
    public LockPage inspect(LockQuery query) {
        return await(page(query, CallerMode.BLOCKING));
    }

    @Override
    public CompletionStage<LockPage> inspectAsync(LockQuery query) {
        return questions.forUsers(page(query, CallerMode.ASYNC));
    }

    private CompletableFuture<LockPage> page(LockQuery query, CallerMode caller) {
        Inspect.Scope scope = query.isWaited() ? Inspect.Scope.WAITED : Inspect.Scope.PREFIX;
        CompletableFuture<Reply> reply =
                questions.ask(new Inspect(query.prefix(), query.cursor(), query.limit(), scope), caller);
        return resultOf(reply, answer -> page(query, answer), failure -> failures.ofInspection("", failure));
    }

    private LockPage page(LockQuery query, Reply reply) {
        if (!(reply instanceof Reply.Inspected page)) {
            throw ProtocolViolation.reply(reply);
        }
        return new LockPage(
                page.resources().stream().map(views::of).toList(),
                page.damaged().stream()
                        .map(record -> new DamagedLock(record.name(), record.reason()))
                        .toList(),
                page.cursor().map(query::after));
    }

    // ---- Runs

    @Override
    public List<RecordedRun> runs(String task) {
        return await(history(new ResourceName(task), CallerMode.BLOCKING));
    }

    @Override
    public CompletionStage<List<RecordedRun>> runsAsync(String task) {
        return questions.forUsers(history(new ResourceName(task), CallerMode.ASYNC));
    }

    private CompletableFuture<List<RecordedRun>> history(ResourceName task, CallerMode caller) {
        return resultOf(
                questions.ask(new Command.ListRuns(task), caller),
                StoreAdmin::history,
                failure -> failures.ofInspection(task.value(), failure));
    }

    private static List<RecordedRun> history(Reply reply) {
        if (reply instanceof Reply.Runs found) {
            return found.runs().stream().map(RunText::read).toList();
        }
        if (reply instanceof Reply.Unsupported) {
            return List.of();
        }
        throw ProtocolViolation.reply(reply);
    }

    // ---- Force

    @Override
    public boolean forceRelease(String name, long token) {
        return await(release(new ResourceName(name), token, CallerMode.BLOCKING));
    }

    @Override
    public CompletionStage<Boolean> forceReleaseAsync(String name, long token) {
        return questions.forUsers(release(new ResourceName(name), token, CallerMode.ASYNC));
    }

    private CompletableFuture<Boolean> release(ResourceName name, long token, CallerMode caller) {
        if (token < 1) {
            throw new IllegalArgumentException("A fencing token is positive, but the release of '" + name
                    + "' named token " + token + "; inspect the lock to find the token of each holder");
        }
        return resultOf(
                questions.ask(new Command.ForceRelease(name, token), caller),
                StoreAdmin::isReleased,
                failure -> failures.ofForcedRelease(name.value(), token, failure));
    }

    private static boolean isReleased(Reply reply) {
        if (reply instanceof Reply.Released || reply instanceof Reply.Absent) {
            return reply instanceof Reply.Released;
        }
        throw ProtocolViolation.reply(reply);
    }

    // ---- Results

    /** The result for users of a reply or a failure. */
    private <A, T> CompletableFuture<T> resultOf(
            CompletableFuture<A> answer, Function<A, T> words, Function<StoreException, RuntimeException> trouble) {
        return answer.thenApply(words).exceptionallyCompose(thrown -> {
            Throwable cause = Stages.causeOf(thrown);
            return CompletableFuture.failedFuture(
                    cause instanceof StoreException failure ? questions.explain(trouble.apply(failure)) : cause);
        });
    }

    /** Waits for a reply, which arrives in time or fails. */
    private static <T> T await(CompletableFuture<T> answer) {
        try {
            return Uninterruptibles.uninterruptibly(answer);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException known ? known : new IllegalStateException(e.getCause());
        }
    }
}
