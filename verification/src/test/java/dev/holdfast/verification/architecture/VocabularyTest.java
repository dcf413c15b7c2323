package dev.holdfast.verification.architecture;

import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The words of the code")
class VocabularyTest {

    /** The most idioms per 10,000 words of comments. */
    private static final int MOST_IDIOMS = 40;

    /** Fewer words of comments than these prove nothing. */
    private static final int LEAST_WORDS = 1_000;

    @Test
    @DisplayName("name what a variable or method is")
    void identifiers() throws IOException {
        List<JavaSource> main =
                JavaSource.all().stream().filter(JavaSource::isMain).toList();
        assertThat(main).hasSizeGreaterThan(400);
        assertThat(main.stream().flatMap(source -> Vocabulary.rejectedIdentifiers(source).stream()))
                .isEmpty();
    }

    @Test
    @DisplayName("are plain English in comments")
    void comments() throws IOException {
        Map<String, List<JavaSource>> modules = JavaSource.all().stream().collect(groupingBy(JavaSource::module));
        modules.values().removeIf(sources -> Vocabulary.words(sources) < LEAST_WORDS);
        assertThat(modules).containsKeys("core", "testkit");
        assertThat(modules)
                .allSatisfy((module, sources) -> assertThat(Vocabulary.idioms(sources))
                        .as("idioms per 10,000 words of comments in " + module)
                        .isLessThanOrEqualTo(MOST_IDIOMS));
    }

    @Test
    @DisplayName("can fail: a rejected identifier is found, a member of another type is not")
    void rejectsIdentifiers() {
        JavaSource source = source("""
                // of patience
                void lookAround(Session of, String text) {
                    int mine = List.of(1, 2).size() + "together".length() + lookup(text);
                    store.patience(told);
                }
                """);
        assertThat(Vocabulary.rejectedIdentifiers(source))
                .containsExactly("A.java:2 lookAround", "A.java:2 of", "A.java:3 mine", "A.java:4 told");
    }

    @Test
    @DisplayName("can fail: idioms are counted in comments alone")
    void countsIdioms() {
        assertThat(Vocabulary.idioms(List.of(source("/** Nobody is told. */ String told = \"nobody\"; // nobody"))))
                .isEqualTo(3 * 1e4 / 4);
    }

    private static JavaSource source(String text) {
        return JavaSource.of("A.java", "a", true, text);
    }
}
