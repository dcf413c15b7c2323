package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import java.io.IOException;
import java.net.URL;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;

@DisplayName("A native image")
class NativeImageTest {

    @Test
    @DisplayName("contains every script and statement of the stores")
    void resources() throws IOException {
        RuntimeHints hints = new RuntimeHints();
        new HoldfastRuntimeHints().registerHints(hints, getClass().getClassLoader());
        PathMatchingResourcePatternResolver resolver = new PathMatchingResourcePatternResolver();
        List<String> names = Arrays.stream(resolver.getResources("classpath*:dev/holdfast/**/*.*"))
                .map(NativeImageTest::nameOf)
                .filter(name -> name.endsWith(".sql") || name.endsWith(".lua"))
                .toList();
        assertThat(names)
                .hasSizeGreaterThan(10)
                .allSatisfy(name -> assertThat(RuntimeHintsPredicates.resource().forResource(name))
                        .as(name)
                        .accepts(hints));
    }

    private static String nameOf(org.springframework.core.io.Resource resource) {
        try {
            URL url = resource.getURL();
            return url.getPath().substring(url.getPath().lastIndexOf("dev/holdfast/"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @CompileWithForkedClassLoader
    @DisplayName("starts with the code that was generated ahead of time")
    void aheadOfTime() {
        TestGenerationContext generated = new TestGenerationContext();
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.register(HoldfastAutoConfiguration.class);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generated);
        }
        generated.writeGeneratedContent();
        TestCompiler.forSystem().with(generated).compile(compiled -> {
            try (GenericApplicationContext context = new GenericApplicationContext()) {
                TestPropertyValues.of("holdfast.store=memory:", "holdfast.label=native")
                        .applyTo(context);
                initialize(compiled.getInstance(ApplicationContextInitializer.class), context);
                context.refresh();
                assertThat(context.getBean(Holdfast.class)).asString().contains("memory", "native");
            }
        });
        assertThat(RuntimeHintsPredicates.resource().forResource("dev/holdfast/store/redis/script/load.lua"))
                .accepts(generated.getRuntimeHints());
    }

    @SuppressWarnings("unchecked")
    private static void initialize(ApplicationContextInitializer<?> initializer, GenericApplicationContext context) {
        ((ApplicationContextInitializer<GenericApplicationContext>) initializer).initialize(context);
    }
}
