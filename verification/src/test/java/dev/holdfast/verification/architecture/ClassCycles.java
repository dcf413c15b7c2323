package dev.holdfast.verification.architecture;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The size of cycles among the classes of one package: each class of a cycle uses each other one, by way of others or
 * not. A nested class counts as the one that it is nested in.
 */
final class ClassCycles extends ArchCondition<JavaClass> {

    private final int most;

    /** The classes of its own package that each class uses, by name. */
    private final Map<String, Set<String>> uses = new TreeMap<>();

    ClassCycles(int most) {
        super("be in no cycle of more than " + most + " classes of their package");
        this.most = most;
    }

    @Override
    public void init(Collection<JavaClass> all) {
        uses.clear();
        for (JavaClass type : all) {
            JavaClass own = outermost(type);
            Set<String> targets = uses.computeIfAbsent(own.getName(), name -> new TreeSet<>());
            for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                JavaClass target = outermost(dependency.getTargetClass().getBaseComponentType());
                if (target.getPackageName().equals(own.getPackageName()) && !target.equals(own)) {
                    targets.add(target.getName());
                }
            }
        }
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
        if (!outermost(type).equals(type)) {
            return;
        }
        Set<String> cycle = new TreeSet<>(usedBy(type.getName()));
        cycle.removeIf(other -> !usedBy(other).contains(type.getName()));
        if (cycle.size() > most) {
            events.add(SimpleConditionEvent.violated(
                    type, type.getName() + " is in a cycle of " + cycle.size() + " classes: " + cycle));
        }
    }

    /** All that a class uses, by way of others or not; the class itself too, if it is in a cycle. */
    private Set<String> usedBy(String name) {
        Set<String> found = new HashSet<>();
        Deque<String> open = new ArrayDeque<>(uses.getOrDefault(name, Set.of()));
        while (!open.isEmpty()) {
            String next = open.pop();
            if (found.add(next)) {
                open.addAll(uses.getOrDefault(next, Set.of()));
            }
        }
        return found;
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(ClassCycles::outermost).orElse(type);
    }
}
