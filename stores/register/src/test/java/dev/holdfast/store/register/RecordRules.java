package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.spi.ResourceName;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Records: reads, and writes that compare with the record alone. */
abstract class RecordRules extends AdapterHarness {

    private static final int CYCLES = 10;

    @Test
    @DisplayName("a read sees what was acknowledged before it, through any connection")
    void readsAreLinearizable() {
        ResourceName name = named("counted");
        assertThat(answer(alice.read(name)).state()).isEmpty();
        RecordVersion version = present(name);
        for (int i = 0; i < CYCLES; i++) {
            version = written(i % 2 == 0 ? alice : bob, put(name, version, "state " + i));
            RegisterRecord seen = answer((i % 2 == 0 ? bob : alice).read(name));
            assertThat(text(seen)).isEqualTo("state " + i);
            assertThat(seen.version()).isEqualTo(version);
        }
    }

    @Test
    @DisplayName("what an adapter guesses of a name that nobody used can be written over")
    void guessesWell() {
        ResourceName name = named("new");
        assumeThat(alice.guess(name)).as("the adapter guesses").isPresent();
        RegisterRecord guess = alice.guess(name).orElseThrow();
        assertThat(guess.state()).isEmpty();
        written(alice, put(name, guess.version(), "first"));
        assertThat(text(name)).isEqualTo("first");
    }

    @Test
    @DisplayName("what an adapter peeks at can be written over, unless another has written since")
    void peeksForAWrite() {
        ResourceName name = named("used");
        RecordVersion first = written(alice, put(name, present(name), "one"));
        answer(bob.read(name));
        assumeThat(bob.peek(name)).as("the adapter peeks").isPresent();
        RegisterRecord outdated = answer(bob.peek(name).orElseThrow());
        assertThat(text(outdated)).isEqualTo("one");
        RecordVersion second = written(alice, put(name, first, "two"));
        expectConflict(name, put(name, outdated.version(), "three"), second, "two");
        written(bob, put(name, answer(bob.peek(name).orElseThrow()).version(), "three"));
        assertThat(text(name)).isEqualTo("three");
    }

    @Test
    @DisplayName("the history of a task is replaced only if it is the expected one, and is no record")
    void histories() {
        ResourceName name = named("task");
        History none = answer(alice.history(name));
        assertThat(none.content()).isEmpty();
        assertThat(answer(alice.replaceHistory(name, none, new byte[] {1}))).isTrue();
        assertThat(answer(bob.replaceHistory(name, none, new byte[] {2}))).isFalse();
        History first = answer(bob.history(name));
        assertThat(first.content())
                .hasValueSatisfying(content -> assertThat(content).containsExactly(1));
        assertThat(answer(bob.replaceHistory(name, first, new byte[] {3}))).isTrue();
        assertThat(answer(alice.replaceHistory(name, first, new byte[] {4}))).isFalse();
        assertThat(answer(alice.history(name)).content())
                .hasValueSatisfying(content -> assertThat(content).containsExactly(3));
        assertThat(answer(alice.read(name)).state()).isEmpty();
    }

    @Test
    @DisplayName("of two that create a record, the second is told what the first wrote")
    void creationConflicts() {
        ResourceName name = named("contended");
        RecordVersion none = present(name);
        RecordVersion created = written(alice, put(name, none, "alice"));
        expectConflict(name, put(name, none, "bob"), created, "alice");
    }

    @Test
    @DisplayName("a write that compares with an older version changes nothing, and is told the present one")
    void replacementConflicts() {
        ResourceName name = named("contended");
        RecordVersion first = written(alice, put(name, present(name), "one"));
        RecordVersion second = written(alice, put(name, first, "two"));
        expectConflict(name, put(name, first, "three"), second, "two");
        expectConflict(name, delete(name, first, 0), second, "two");
    }

    private void expectConflict(ResourceName name, ConditionalWrite write, RecordVersion version, String state) {
        assertThat(answer(bob.write(write))).isInstanceOfSatisfying(WriteResult.Refused.class, refused -> {
            assertThat(refused.isConflict()).isTrue();
            assertThat(refused.present().version()).isEqualTo(version);
            assertThat(text(refused.present())).isEqualTo(state);
        });
        assertThat(text(name)).isEqualTo(state);
        assertThat(present(name)).isEqualTo(version);
    }

    @Test
    @DisplayName("a record that was deleted and made again never has a version that it had before")
    void versionsAreNeverRepeated() {
        ResourceName name = named("recreated");
        Set<RecordVersion> versions = new HashSet<>();
        RecordVersion missing = present(name);
        RecordVersion before = missing;
        for (int i = 0; i < CYCLES; i++) {
            RecordVersion created = written(alice, put(name, missing, "made"));
            RecordVersion changed = written(alice, put(name, created, "changed"));
            assertThat(versions.add(created) && versions.add(changed)).isTrue();
            assertThat(changed.incarnation()).isEqualTo(created.incarnation());
            assertThat(changed.change()).isGreaterThan(created.change());
            if (i > 0) {
                assertThat(created.incarnation()).isGreaterThan(before.incarnation());
            }
            before = changed;
            missing = written(bob, delete(name, changed, 0));
            assertThat(answer(alice.read(name)).state()).isEmpty();
            assertThat(present(name)).isEqualTo(missing);
            expectConflict(answer(bob.write(put(name, changed, "late"))));
        }
    }

    @Test
    @DisplayName("revisions number all writes: a record that is made again begins above all that it was before")
    void incarnationsFollowAllChanges() {
        assumeThat(alice.traits().clock()).isEqualTo(RegisterTraits.Clock.REVISIONS);
        ResourceName name = named("recreated");
        RecordVersion version = written(alice, put(name, present(name), "made"));
        for (int i = 0; i < CYCLES; i++) {
            version = written(alice, put(name, version, "changed"));
        }
        RecordVersion last = version;
        RecordVersion again = written(alice, put(name, written(alice, delete(name, last, 0)), "made again"));
        assertThat(again.incarnation()).isGreaterThan(last.change());
    }

    @Test
    @DisplayName("a clock's tokens survive the record: no floor that a deletion gave is forgotten")
    void floorsAreKept() {
        assumeThat(alice.traits().clock()).isEqualTo(RegisterTraits.Clock.WALL);
        ResourceName name = named("floored");
        RecordVersion made = written(alice, put(name, present(name), "made"));
        written(alice, delete(name, made, 1_000));
        assertThat(answer(bob.read(name)).floor()).isGreaterThanOrEqualTo(1_000);
        RecordVersion again = written(alice, put(name, present(name), "made again"));
        written(alice, delete(name, again, 10));
        assertThat(answer(bob.read(name)).floor()).isGreaterThanOrEqualTo(1_000);
    }

    @Test
    @DisplayName("of writes at the same time that compare with one version, one succeeds")
    void oneOfManySucceeds() {
        ResourceName name = named("raced");
        RecordVersion version = present(name);
        for (int i = 0; i < CYCLES; i++) {
            List<CompletableFuture<WriteResult>> race = new ArrayList<>();
            for (int j = 0; j < 8; j++) {
                race.add((j % 2 == 0 ? alice : bob)
                        .write(put(name, version, "writer " + j))
                        .toCompletableFuture());
            }
            List<WriteResult> results =
                    race.stream().map(AdapterHarness::answer).toList();
            assertThat(results)
                    .filteredOn(WriteResult.Written.class::isInstance)
                    .hasSize(1);
            int winner = results.indexOf(results.stream()
                    .filter(WriteResult.Written.class::isInstance)
                    .findFirst()
                    .orElseThrow());
            assertThat(text(name)).isEqualTo("writer " + winner);
            version = present(name);
        }
    }

    @Test
    @DisplayName("every name is a record of its own, whatever is in it")
    void namesAreKeptApart() {
        List<String> names = List.of(
                "a",
                "A",
                "a ",
                "a/b",
                "a/",
                "/a",
                "..",
                ".",
                "a%2Fb",
                "ä",
                "a\u0308",
                "\u0001",
                "\uD83D\uDD12",
                "zookeeper");
        for (String name : names) {
            written(alice, put(named(name), present(named(name)), "of " + name));
        }
        assertThat(names).allSatisfy(name -> assertThat(text(named(name))).isEqualTo("of " + name));
        ResourceName longest = new ResourceName(prefix + "x".repeat(ResourceName.MAX_BYTES - prefix.length()));
        written(alice, put(longest, present(longest), "of the longest"));
        assertThat(text(longest)).isEqualTo("of the longest");
    }

    @Test
    @DisplayName("a state may be empty of bytes, and as large as the traits say")
    void statesOfAllSizes() {
        ResourceName name = named("sized");
        RecordVersion empty = written(alice, put(name, present(name), ""));
        assertThat(answer(bob.read(name)).state())
                .hasValueSatisfying(state -> assertThat(state).isEmpty());
        int most = alice.traits().maxStateBytes();
        written(alice, mailing(put(name, empty, "x".repeat(most)), session(bob), "with a message of usual length"));
        assertThat(text(name)).hasSize(most);
    }
}
