package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ResourceName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Lists of the records. */
abstract class ListingRules extends AdapterHarness {

    @Test
    @DisplayName("pages together hold each record whose name begins so once, and none is longer than asked")
    void paging() {
        List<String> made = new ArrayList<>();
        for (int i = 0; i < 11; i++) {
            made.add(make("in/" + i));
        }
        String unlike = make("out");
        assertThat(names(prefix + "in/", 3)).containsExactlyInAnyOrderElementsOf(made);
        assertThat(names(prefix + "in/", 100)).containsExactlyInAnyOrderElementsOf(made);
        assertThat(names(prefix, 4)).hasSize(12).contains(unlike);
        assertThat(names("", 50)).contains(unlike).containsAll(made);
        assertThat(names(prefix + "in/1", 10)).containsExactlyInAnyOrder(made.get(1), made.get(10));
        assertThat(names(prefix + "nothing", 10)).isEmpty();
    }

    @Test
    @DisplayName("a prefix is compared as it stands")
    void prefixes() {
        String umlaut = make("\u00e4/%2F 1");
        make("a/%2F 1");
        assertThat(names(prefix + "\u00e4/%2", 10)).containsExactly(umlaut);
        String last = make("\uDBFF\uDFFF/1");
        assertThat(names(prefix + "\uDBFF\uDFFF", 10)).containsExactly(last);
    }

    @Test
    @DisplayName("a page tells the records as a read does, and what was deleted is in none")
    void entries() {
        ResourceName there = named("there");
        ResourceName deleted = named("deleted");
        written(alice, delete(deleted, written(alice, put(deleted, present(deleted), "gone")), 0));
        RecordVersion version = written(alice, put(there, present(there), "state"));
        RegisterPage page = answer(bob.list(prefix, Optional.empty(), 10));
        assertThat(page.entries()).hasSize(1);
        RegisterPage.Entry entry = page.entries().get(0);
        assertThat(entry.resource()).isEqualTo(there);
        assertThat(text(entry.record())).isEqualTo("state");
        assertThat(entry.record().version()).isEqualTo(version);
        written(bob, put(there, entry.record().version(), "changed"));
    }

    @Test
    @DisplayName("a list in order goes by the bytes of the names")
    void order() {
        assumeThat(alice.traits().orderedListing()).isTrue();
        for (String name : List.of("b", "a/b", "B", "a", "\u00e4", "\uD83D\uDD12", "\uFFFD")) {
            make(name);
        }
        List<String> names = names(prefix, 2);
        assertThat(names)
                .isEqualTo(names.stream()
                        .map(ResourceName::new)
                        .sorted()
                        .map(ResourceName::value)
                        .toList())
                .hasSize(7);
    }

    @CanIgnoreReturnValue
    private String make(String name) {
        written(alice, put(named(name), present(named(name)), "made"));
        return named(name).value();
    }

    private List<String> names(String start, int limit) {
        List<String> names = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            RegisterPage page = answer(bob.list(start, cursor, limit));
            assertThat(page.entries().size()).isLessThanOrEqualTo(limit);
            page.entries().forEach(entry -> names.add(entry.resource().value()));
            cursor = page.cursor();
        } while (cursor.isPresent());
        return names;
    }
}
