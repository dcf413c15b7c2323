package dev.holdfast.spring.advice;

import dev.holdfast.spring.advice.AnnotatedMethods.Use;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.util.ClassUtils;

/** Checks whether calls of an annotated method go through a proxy, and the order of the proxy's advice. */
final class ProxyChecks {

    private static final boolean TRANSACTIONS_PRESENT = ClassUtils.isPresent(
            "org.springframework.transaction.interceptor.TransactionInterceptor", ProxyChecks.class.getClassLoader());

    private static final Logger LOG = LoggerFactory.getLogger(ProxyChecks.class);

    /** Retries: the advisor of spring-retry, and the aspect of Resilience4j, recognised by its text. */
    private static final Pattern RETRY_OF_OTHERS =
            Pattern.compile("org\\.springframework\\.retry\\.|io\\.github\\.resilience4j\\.(\\w+\\.)?retry\\.");

    private ProxyChecks() {}

    /** Checks the method itself. */
    static void check(Use use, Class<?> type) {
        int modifiers = use.method().getModifiers();
        if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers)) {
            throw use.misuse(
                    type,
                    "a " + (Modifier.isPrivate(modifiers) ? "private" : "static")
                            + " method is not called through the proxy, so nothing would be locked. Make it "
                            + "an instance method that other beans can call, or use LockTemplate in it");
        }
        if (Modifier.isFinal(type.getModifiers()) && !isOfInterface(use.method(), type)) {
            throw use.misuse(
                    type,
                    "the class is final, so it can't be proxied. Make it non-final, or declare the "
                            + "method in an interface");
        }
    }

    private static boolean isOfInterface(Method method, Class<?> type) {
        return Arrays.stream(ClassUtils.getAllInterfacesForClass(type))
                .anyMatch(each -> ClassUtils.hasMethod(each, method.getName(), method.getParameterTypes()));
    }

    /** Checks the proxy. */
    static void check(Advised proxy, Object bean, Class<?> type, List<Use> uses) {
        for (Use use : uses) {
            if (AopUtils.isCglibProxy(bean) && Modifier.isFinal(use.method().getModifiers())) {
                throw use.misuse(
                        type,
                        "a final method is not called through the proxy, so nothing would be "
                                + "locked. Make it non-final");
            }
            if (AopUtils.isJdkDynamicProxy(bean) && !isOfInterface(use.method(), type)) {
                throw use.misuse(
                        type,
                        "the bean's proxy implements only its interfaces, and none of them "
                                + "declares this method. Add it to one, or set proxyTargetClass = true");
            }
            if (TRANSACTIONS_PRESENT) {
                Transactions.check(proxy, type, use);
            }
            warnOfRetriesInside(proxy, type, use);
        }
    }

    /** The default order of other advice. */
    private static void warnOfRetriesInside(Advised proxy, Class<?> type, Use use) {
        Arrays.stream(proxy.getAdvisors())
                .dropWhile(advisor -> !(advisor instanceof AnnotationAdvisor))
                .filter(advisor -> isRetryOfOthers(advisor) && matches(advisor, use.method(), type))
                .findFirst()
                .ifPresent(advisor -> LOG.warn(
                        "{}",
                        use.misuse(
                                        type,
                                        "retry advice of spring-retry or Resilience4j runs inside "
                                                + "the lock, which is held during all attempts and pauses. "
                                                + "Give that advice a smaller order than @EnableHoldfast, or "
                                                + "use Spring's @Retryable")
                                .getMessage()));
    }

    private static boolean isRetryOfOthers(Advisor advisor) {
        return RETRY_OF_OTHERS
                .matcher(advisor.getClass().getName() + " " + advisor)
                .find();
    }

    private static boolean matches(Advisor advisor, Method method, Class<?> type) {
        return advisor instanceof PointcutAdvisor pointcut
                && pointcut.getPointcut().getMethodMatcher().matches(method, type);
    }

    /** A separate class, since transactions are optional. */
    private static final class Transactions {

        static void check(Advised proxy, Class<?> type, Use use) {
            for (Advisor advisor : proxy.getAdvisors()) {
                if (advisor instanceof AnnotationAdvisor) {
                    return;
                }
                if (advisor.getAdvice() instanceof TransactionInterceptor && matches(advisor, use.method(), type)) {
                    throw use.misuse(
                            type,
                            "the method's transaction would begin before the lock is acquired, and "
                                    + "could read stale data. Give @EnableHoldfast a smaller order than that "
                                    + "of the transactions");
                }
            }
        }
    }
}
