package dev.holdfast.spring.advice;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.DataBindingMethodResolver;
import org.springframework.expression.spel.support.DataBindingPropertyAccessor;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeConverter;

/**
 * An expression over the arguments of a method. It is parsed once, and its variables are checked. It can read
 * properties and call methods, but can't write, construct objects, or access types and beans.
 */
final class CallExpression {

    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();
    private static final SpelExpressionParser PARSER = new SpelExpressionParser();
    private static final Set<String> ROOT_PROPERTIES = Set.of("target", "methodName", "args");

    // Shared, since they cache what they find by reflection.
    private static final DataBindingPropertyAccessor PROPERTIES = DataBindingPropertyAccessor.forReadOnlyAccess();
    private static final DataBindingMethodResolver METHODS = DataBindingMethodResolver.forInstanceMethodInvocation();
    private static final StandardTypeConverter CONVERTER = new StandardTypeConverter();

    private final AnnotatedMethod where;
    private final String attribute;
    private final SpelExpression expression;
    /** The variables of the expression, with the indexes of their arguments. */
    private final Map<String, Integer> variables = new LinkedHashMap<>();

    /**
     * Parses an expression.
     *
     * @throws IllegalStateException if it is malformed, or has variables that are not parameters
     */
    CallExpression(AnnotatedMethod where, String attribute, String text) {
        this.where = where;
        this.attribute = attribute;
        try {
            this.expression = PARSER.parseRaw(text);
        } catch (ParseException | IllegalStateException e) {
            throw where.misuse(attribute + " = \"" + text + "\" is not an expression", e);
        }
        check(expression.getAST(), false, parameters(where.method()));
    }

    private static Map<String, Integer> parameters(Method method) {
        Map<String, Integer> parameters = new LinkedHashMap<>();
        @Nullable String @Nullable [] names = NAMES.getParameterNames(method);
        for (int i = 0; i < method.getParameterCount(); i++) {
            parameters.put("p" + i, i);
            parameters.put("a" + i, i);
            String name = names == null ? null : names[i];
            if (name != null) {
                parameters.put(name, i);
            }
        }
        return parameters;
    }

    private void check(SpelNode node, boolean isPart, Map<String, Integer> parameters) {
        if (node instanceof VariableReference) {
            checkVariable(node.toStringAST().substring(1), parameters);
        } else if (node instanceof PropertyOrFieldReference && !isPart) {
            checkProperty(node.toStringAST());
        }
        // Inside these, names refer to elements.
        boolean changesRoot = node instanceof Projection || node instanceof Selection || node instanceof Indexer;
        for (int i = 0; i < node.getChildCount(); i++) {
            boolean isLater = node instanceof CompoundExpression && i > 0;
            check(node.getChild(i), isPart || changesRoot || isLater, parameters);
        }
    }

    private void checkVariable(String name, Map<String, Integer> parameters) {
        if (name.equals("root") || name.equals("this")) {
            return;
        }
        Integer index = parameters.get(name);
        if (index == null) {
            Set<String> known = new TreeSet<>(parameters.keySet());
            throw where.misuse(described() + " has the variable #" + name + ", but the known parameters are " + known
                    + ". Parameter names are available only if the class is compiled with -parameters");
        }
        variables.put(name, index);
    }

    private void checkProperty(String property) {
        String name = property.endsWith("?") ? property.substring(0, property.length() - 1) : property;
        if (!ROOT_PROPERTIES.contains(name)) {
            throw where.misuse(described() + " has the property " + name + ", but the properties of a call are "
                    + new TreeSet<>(ROOT_PROPERTIES) + ". Write #" + name
                    + " for a parameter, and put constant text into the attribute 'name'");
        }
    }

    /** Evaluates the expression once. */
    @Nullable
    Object evaluate(Object target, @Nullable Object[] arguments) {
        SimpleEvaluationContext context = SimpleEvaluationContext.forPropertyAccessors(PROPERTIES)
                .withMethodResolvers(METHODS)
                .withTypeConverter(CONVERTER)
                .withAssignmentDisabled()
                .withRootObject(new ExpressionRoot(target, where.method(), arguments))
                .build();
        variables.forEach((name, index) -> context.setVariable(name, arguments[index]));
        try {
            return expression.getValue(context);
        } catch (EvaluationException e) {
            throw failure("could not be evaluated", e);
        }
    }

    /** The exception for this call, before anything is locked. */
    IllegalArgumentException failure(String problem, @Nullable Exception cause) {
        String text = cause == null ? problem : problem + ": " + cause.getMessage();
        return new IllegalArgumentException(
                described() + " of " + where.name() + " " + text + ". Nothing was locked, and the method was not run.",
                cause);
    }

    private String described() {
        return attribute + " = \"" + expression.getExpressionString() + "\"";
    }
}
