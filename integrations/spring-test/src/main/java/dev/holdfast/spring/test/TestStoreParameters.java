package dev.holdfast.spring.test;

import dev.holdfast.Holdfast;
import dev.holdfast.test.TestStore;
import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * Passes the store of the application context, and its client, to methods of a test. Leaves constructors, and
 * parameters annotated for Spring's own extension, to that extension. Thread-safe.
 */
final class TestStoreParameters implements ParameterResolver {

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return (type == TestStore.class || type == Holdfast.class)
                && parameter.getDeclaringExecutable() instanceof Method
                && !AnnotatedElementUtils.hasAnnotation(parameter.getAnnotatedElement(), Autowired.class)
                && !AnnotatedElementUtils.hasAnnotation(parameter.getAnnotatedElement(), Qualifier.class);
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        TestStore store = SpringExtension.getApplicationContext(context).getBean(TestStore.class);
        return parameter.getParameter().getType() == TestStore.class ? store : store.client();
    }
}
