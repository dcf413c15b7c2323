package com.example.leader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.Programs;
import dev.holdfast.servers.ServerProcess;
import java.util.List;
import java.util.regex.MatchResult;

/** Two processes, of which the leader is killed, and a third that takes over when the second ends in order. */
final class FailOver {

    private static final String LEADS = "(\\w+) leads, term (\\d+)";

    private FailOver() {}

    static void plays(String store) {
        try (Programs programs = new Programs()) {
            ServerProcess alice = programs.start(LeaderProgram.class, store, "alice");
            programs.awaitLine("alice leads, term \\d+");
            ServerProcess bob = programs.start(LeaderProgram.class, store, "bob");
            programs.awaitLine("bob sees that alice leads, term \\d+");

            alice.kill();
            programs.awaitLine("bob leads, term \\d+");
            programs.awaitLine("bob sees that bob leads, term \\d+");

            programs.start(LeaderProgram.class, store, "carol");
            programs.awaitLine("carol sees that bob leads, term \\d+");
            bob.terminate();
            programs.awaitLine("bob leads no more, term \\d+: CLOSED");
            programs.awaitLine("carol leads, term \\d+");

            programs.lines().forEach(System.out::println);
            List<MatchResult> terms = programs.lines(LEADS);
            assertThat(terms).extracting(term -> term.group(1)).contains("alice", "bob", "carol");
            assertThat(terms)
                    .extracting(term -> Long.valueOf(term.group(2)))
                    .isSorted()
                    .doesNotHaveDuplicates();
        }
    }
}
