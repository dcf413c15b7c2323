package dev.holdfast.servers.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** Work on other threads. */
public final class Meanwhile {

    private Meanwhile() {}

    public static <T> CompletableFuture<T> run(Callable<T> work) {
        CompletableFuture<T> done = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                done.complete(work.call());
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return done.orTimeout(100, TimeUnit.SECONDS);
    }

    /** Runs on a number of threads, until all have ended. */
    public static void all(int threads, Callable<?> work) throws Exception {
        List<CompletableFuture<?>> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            running.add(run(work));
        }
        try {
            running.forEach(CompletableFuture::join);
        } catch (CompletionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }
}
