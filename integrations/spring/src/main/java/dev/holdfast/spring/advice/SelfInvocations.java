package dev.holdfast.spring.advice;

import dev.holdfast.spring.LockedDefaults;
import dev.holdfast.spring.LockedDefaults.SelfInvocation;
import dev.holdfast.spring.advice.AnnotatedMethods.Use;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.asm.ClassReader;
import org.springframework.asm.Type;
import org.springframework.beans.factory.BeanFactory;

/**
 * Finds calls of a class to its own annotated methods: they go past the proxy. Found is what surely calls {@code this};
 * a method that has another instance of the class in hand, such as the proxy, is passed over.
 */
final class SelfInvocations {

    private static final Logger LOG = LoggerFactory.getLogger(SelfInvocations.class);

    private SelfInvocations() {}

    /**
     * Searches a class and its superclasses.
     *
     * @throws IllegalStateException if there is such a call, and it is to be refused
     */
    static void check(Class<?> type, List<Use> uses, BeanFactory beans) {
        if (uses.isEmpty()) {
            return;
        }
        SelfInvocation reaction = beans.getBeanProvider(LockedDefaults.class)
                .getIfAvailable(LockedDefaults::standard)
                .selfInvocation();
        if (reaction == SelfInvocation.ALLOW) {
            return;
        }
        find(type, uses).forEach((caller, use) -> {
            IllegalStateException found = use.misuse(
                    type,
                    "the class calls it itself, in " + caller
                            + ". That goes past the proxy and locks nothing. Move it to"
                            + " another bean, or use LockTemplate; LockedDefaults.withSelfInvocation turns this check"
                            + " off");
            if (reaction == SelfInvocation.REFUSE) {
                throw found;
            }
            LOG.warn("{}", found.getMessage());
        });
    }

    /** The methods that call an annotated one. */
    private static Map<String, Use> find(Class<?> type, List<Use> uses) {
        Map<String, Use> wanted = new HashMap<>();
        uses.forEach(use -> wanted.put(use.method().getName() + Type.getMethodDescriptor(use.method()), use));
        List<Class<?>> hierarchy = new ArrayList<>();
        for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
            hierarchy.add(each);
        }
        List<String> owners = hierarchy.stream().map(Type::getInternalName).toList();
        Map<String, Use> found = new LinkedHashMap<>();
        for (Class<?> each : hierarchy) {
            try (InputStream bytes = each.getResourceAsStream(
                    each.getName().substring(each.getName().lastIndexOf('.') + 1) + ".class")) {
                // There are none in a native image.
                if (bytes != null) {
                    new ClassReader(bytes)
                            .accept(
                                    new SelfCallVisitor(owners, (caller, callee) -> {
                                        Use use = wanted.get(callee);
                                        if (use != null) {
                                            found.put(caller, use);
                                        }
                                    }),
                                    ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
                }
            } catch (IOException | IllegalArgumentException e) {
                // A class file that is newer than the reader, or can't be read: this check is one for convenience.
                LOG.debug("The class file of {} can't be searched for calls of itself", each.getName(), e);
            }
        }
        return found;
    }
}
