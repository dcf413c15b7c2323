package dev.holdfast.testkit.sim;

import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A future that does not keep to itself what an action throws that depends on it: nobody may do that. */
final class Heard<T> extends CompletableFuture<T> {

    private final World world;

    Heard(World world) {
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
        return new Heard<>(world);
    }
}
