package dev.holdfast.testkit.sim;

import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A future that reports exceptions of dependent actions, which would otherwise be swallowed: they must not throw. */
final class CheckedFuture<T> extends CompletableFuture<T> {

    private final World world;

    CheckedFuture(World world) {
        this.world = world;
    }

    @Override
    public CompletableFuture<T> whenComplete(BiConsumer<? super @Nullable T, ? super @Nullable Throwable> action) {
        return super.whenComplete((result, failure) -> {
            try {
                action.accept(result, failure);
            } catch (RuntimeException | Error thrown) {
                world.fail(Rule.NO_EXCEPTION, String.valueOf(thrown));
                throw thrown;
            }
        });
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CheckedFuture<>(world);
    }
}
