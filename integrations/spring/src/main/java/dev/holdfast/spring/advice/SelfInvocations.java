package dev.holdfast.spring.advice;

import dev.holdfast.spring.Locked;
import dev.holdfast.spring.LockedDefaults;
import dev.holdfast.spring.LockedDefaults.SelfInvocation;
import dev.holdfast.spring.advice.AnnotatedMethods.Use;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.asm.ClassReader;
import org.springframework.asm.Type;
import org.springframework.beans.factory.BeanFactory;

/**
 * Finds calls of a class to its own annotated methods, which bypass the proxy. It reports only calls that certainly
 * have the receiver {@code this}, and skips methods that use another instance of the class, such as the proxy.
 */
final class SelfInvocations {

    private static final Logger LOG = LoggerFactory.getLogger(SelfInvocations.class);

    private SelfInvocations() {}

    /**
     * Searches a class and its superclasses.
     *
     * @throws IllegalStateException if there is such a call, and it must fail the start
     */
    static void check(Class<?> type, List<Use> uses, BeanFactory beans) {
        if (uses.isEmpty()) {
            return;
        }
        SelfInvocation reaction = beans.getBeanProvider(LockedDefaults.class)
                .getIfAvailable(LockedDefaults::standard)
                .selfInvocation(type);
        if (reaction == SelfInvocation.ALLOW) {
            return;
        }
        for (SelfCall call : find(type, uses)) {
            IllegalStateException found = call.callee.misuse(
                    type,
                    "its own class calls it, in " + call.caller.substring(0, call.caller.indexOf('('))
                            + ". This call bypasses the proxy and locks nothing. Move the method to "
                            + "another bean, or use LockTemplate; LockedDefaults.withSelfInvocation "
                            + "turns this check off");
            if (reaction == SelfInvocation.REFUSE && !call.isRecursion()) {
                throw found;
            }
            LOG.warn("{}", found.getMessage());
        }
    }

    /**
     * A call that bypasses the proxy.
     *
     * @param caller name and descriptor
     * @param locked the caller, if it is annotated
     */
    private record SelfCall(String caller, @Nullable Use locked, Use callee) {

        /** Whether the method calls itself. With a key, that call may need another lock. */
        boolean isRecursion() {
            return locked != null && locked.method().equals(callee.method());
        }

        /** Whether the caller already has the lock of the callee. */
        boolean isCovered() {
            if (locked == null || locked.annotation() != callee.annotation()) {
                return false;
            }
            if (locked.annotation() != Locked.class) {
                return isRecursion();
            }
            Locked outer = locked.values(Locked.class);
            Locked inner = callee.values(Locked.class);
            return outer.key().isEmpty()
                    && inner.key().isEmpty()
                    && outer.condition().isEmpty()
                    && (isRecursion()
                            || (!outer.name().isEmpty() && outer.name().equals(inner.name())))
                    && outer.mode() == inner.mode()
                    && outer.client().equals(inner.client())
                    && (isRecursion() || !isAsync(callee));
        }

        /** Whether the callee may continue after its caller has returned and released the lock. */
        private static boolean isAsync(Use use) {
            Class<?> result = use.method().getReturnType();
            return CompletionStage.class.isAssignableFrom(result) || ResultKind.adapter(result) != null;
        }
    }

    /** The calls of annotated methods that are not covered by the lock of the caller. */
    private static Set<SelfCall> find(Class<?> type, List<Use> uses) {
        Map<String, Use> wanted = new HashMap<>();
        uses.forEach(use -> wanted.put(use.method().getName() + Type.getMethodDescriptor(use.method()), use));
        List<Class<?>> hierarchy = new ArrayList<>();
        for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
            hierarchy.add(each);
        }
        List<String> owners = hierarchy.stream().map(Type::getInternalName).toList();
        Set<SelfCall> found = new LinkedHashSet<>();
        for (Class<?> each : hierarchy) {
            try (InputStream bytes = each.getResourceAsStream(
                    each.getName().substring(each.getName().lastIndexOf('.') + 1) + ".class")) {
                // A native image has no class files.
                if (bytes != null) {
                    new ClassReader(bytes)
                            .accept(
                                    new SelfCallVisitor(owners, (caller, callee) -> {
                                        Use use = wanted.get(callee);
                                        if (use != null) {
                                            found.add(new SelfCall(caller, wanted.get(caller), use));
                                        }
                                    }),
                                    ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
                }
            } catch (IOException | IllegalArgumentException e) {
                // Newer than the reader, or not readable: this check is only a convenience.
                LOG.debug("The class file of {} can't be searched for calls to its own methods", each.getName(), e);
            }
        }
        found.removeIf(SelfCall::isCovered);
        return found;
    }
}
