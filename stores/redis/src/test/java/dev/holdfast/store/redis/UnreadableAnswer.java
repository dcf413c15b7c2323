package dev.holdfast.store.redis;

import io.lettuce.core.RedisFuture;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.AbstractList;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;

/** An answer of the driver that throws when it is read. */
final class UnreadableAnswer extends AbstractList<Object> {

    private final String text;

    UnreadableAnswer(String text) {
        this.text = text;
    }

    @Override
    public Object get(int index) {
        throw new Error(text);
    }

    @Override
    public int size() {
        throw new Error(text);
    }

    /** A future of the driver's type whose answer is replaced. */
    @SuppressWarnings("unchecked")
    static Object future(CompletionStage<?> real, UnaryOperator<Object> replacement) {
        return Proxy.newProxyInstance(
                UnreadableAnswer.class.getClassLoader(),
                new Class<?>[] {RedisFuture.class},
                (proxy, method, arguments) -> method.getName().equals("whenComplete")
                        ? real.<Object>thenApply(replacement::apply)
                                .whenComplete((BiConsumer<Object, Throwable>) arguments[0])
                        : invoke(real, method, arguments));
    }

    /** Calls the method that a proxy stands in for, and throws what it throws. */
    static Object invoke(Object real, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(real, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
