package dev.holdfast.testkit;

import java.util.List;
import java.util.stream.Stream;

/** The broken stores that go wrong about what is told, counted and named. */
final class ViewMutants {

    private ViewMutants() {}

    static Stream<Mutant> all() {
        return Stream.of(waiting(), listeners(), views(), annotations(), latches(), input(), parts())
                .flatMap(List::stream);
    }

    private static List<Mutant> waiting() {
        return List.of(
                Mutant.of("a withdrawal of a waiting claim is forgotten", "W2")
                        .andSo("A4", "I2", "I4", "K8", "R5", "W4")
                        .inExecutor(
                                "        MemoryClaim claim = state.claim(command.claim());\n        if (claim != null) {\n",
                                "        MemoryClaim claim = state.claim(command.claim());\n        if (claim != null && claim.tokens != null) {\n"),
                Mutant.of("a waiting claim is told to look again too late", "W3")
                        .inState(
                                "recheck = Math.min(recheck, grant.microsLeft(now));",
                                "recheck = Math.max(recheck, grant.microsLeft(now));"),
                Mutant.of("nobody is told that others wait", "W4")
                        .inState(
                                "fixedLeaseLeft(claim), !claim.resource.queue.isEmpty())",
                                "fixedLeaseLeft(claim), false)"),
                Mutant.of("who is admitted is not told", "W5")
                        .andSo("W8")
                        .inState(
                                "        for (MemoryClaim claim : admitted) {\n",
                                "        for (MemoryClaim claim : List.<MemoryClaim>of()) {\n")
                        .notInRuns(),
                Mutant.of("the end of a session admits the next claim without a notification", "W5")
                        .inState(
                                "        touched.forEach(this::settle);\n    }\n\n    // Drops everything",
                                "        quiet = true;\n        touched.forEach(this::settle);\n        quiet = false;\n    }\n\n    private boolean quiet;\n\n    // Drops everything")
                        .inState(
                                "        for (MemoryClaim claim : admitted) {\n",
                                "        for (MemoryClaim claim : quiet ? List.<MemoryClaim>of() : admitted) {\n")
                        .notInRuns(),
                Mutant.of("a forced release is not told", "W5")
                        .inExecutor("                state.signal(new Signal.Revoked(grant.ref));\n", "")
                        .notInRuns(),
                Mutant.of("a poll answers in another order", "W6")
                        .inExecutor(
                                "        return new Reply.Polled(states);",
                                "        java.util.Collections.reverse(states);\n        return new Reply.Polled(states);"));
    }

    private static List<Mutant> listeners() {
        return List.of(
                Mutant.of("who listens last is the only one that is told", "W8")
                        .inStore(
                                "        return mailbox.listeners.add(listener);",
                                "        mailbox.listeners.clear();\n        return mailbox.listeners.add(listener);")
                        .notInRuns(),
                Mutant.of("who stops listening takes the others along", "W8")
                        .inStore(
                                "        return mailbox.listeners.add(listener);",
                                "        var unused = mailbox.listeners.add(listener);\n        return mailbox.listeners::clear;")
                        .notInRuns(),
                Mutant.of("a listener goes on after its subscription was closed", "W8")
                        .inStore(
                                "        return mailbox.listeners.add(listener);",
                                "        var unused = mailbox.listeners.add(listener);\n        return () -> {};")
                        .notInRuns());
    }

    private static List<Mutant> views() {
        return List.of(
                Mutant.of("an inspection leaves out what does not fit the page", "V1")
                        .andSo("B7", "V9")
                        .inReports(
                                "more ? Optional.of(page.get(page.size() - 1).name.value()) : Optional.empty()",
                                "more ? Optional.of(found.get(page.size()).name.value()) : Optional.empty()")
                        .notInRuns(),
                Mutant.of("an inspection goes by the order of Java's strings", "V1")
                        .inReports(
                                "Comparator.comparing(resource -> resource.name)",
                                "Comparator.comparing(resource -> resource.name.value())")
                        .notInRuns(),
                Mutant.of("a prefix is a pattern", "V2")
                        .inReports(
                                "name.startsWith(command.prefix())",
                                "name.matches(\"(?s)\" + java.util.regex.Pattern.quote(command.prefix()).replace(\"%\", \"\\\\E.*\\\\Q\").replace(\"_\", \"\\\\E.\\\\Q\") + \".*\")")
                        .notInRuns(),
                Mutant.of("an inspection of one name tells others that begin so", "V7")
                        .inReports("name.equals(command.prefix())", "name.startsWith(command.prefix())")
                        .notInRuns(),
                Mutant.of("an inspection of one name tells the first hundred who hold it", "V7")
                        .inReports("resource.grants.values(), Integer.MAX_VALUE)", "resource.grants.values(), 100)")
                        .notInRuns(),
                Mutant.of("an inspection counts the holders instead of what they hold", "V3")
                        .andSo("V7")
                        .inReports(
                                "resource.grants.size(),\n                resource.heldWeight,",
                                "resource.grants.size(),\n                resource.grants.size(),"),
                Mutant.of("an audit loses a claim at the end of each page", "V5")
                        .andSo("B7")
                        .inReports(
                                "            (claim.tokens == null ? waiting : grants).add(claim.ref);\n            last = claim.number;",
                                "            (claim.tokens == null ? waiting : grants).add(claim.ref);\n            last = claim.number + 1;")
                        .notInRuns());
    }

    private static List<Mutant> annotations() {
        return List.of(
                Mutant.of("names without waiters are taken for waited", "V9")
                        .inReports("command.scope() == Inspect.Scope.WAITED && resource.queue.isEmpty()", "false")
                        .notInRuns(),
                Mutant.of("a waiter is told to have come just now", "V10")
                        .inReports("state.now() - claim.queuedAt", "0")
                        .notInRuns(),
                Mutant.of("what is left of a session is taken for its ttl", "V11")
                        .inReports(
                                "Micros.duration(claim.session.ttl)",
                                "Micros.duration(claim.microsLeft(state.now() + 1))")
                        .notInRuns(),
                Mutant.of("the annotation that arrives last stays", "V12")
                        .inState("if (command.seq() > grant.annotated) {", "if (command.seq() > 0) {")
                        .notInRuns(),
                Mutant.of("a grant begins with the last annotation of its name", "V13")
                        .inState(
                                "            grant.annotation = command.text();\n",
                                "            grant.annotation = command.text();\n            lastTexts.put(grant.resource.name, command.text());\n")
                        .inState(
                                "        claim.resource.grants.put(claim.ref, claim);\n",
                                "        claim.resource.grants.put(claim.ref, claim);\n        claim.annotation = lastTexts.getOrDefault(claim.resource.name, \"\");\n")
                        .inState(
                                "    private long numbers;\n",
                                "    private long numbers;\n    private final Map<ResourceName, String> lastTexts = new HashMap<>();\n")
                        .notInRuns(),
                Mutant.of("the oldest runs of a task are kept", "V16")
                        .inState("kept.pollLastEntry();", "kept.pollFirstEntry();")
                        .notInRuns(),
                Mutant.of("a run that is recorded again keeps its first text", "V16")
                        .inState(
                                "kept.put(command.token(), command.run());",
                                "kept.putIfAbsent(command.token(), command.run());")
                        .notInRuns(),
                Mutant.of("a waiting claim can be annotated", "V14")
                        .inExecutor(
                                "        MemoryClaim grant = state.grant(command.claim());\n        if (grant == null) {\n            return new Reply.Absent();\n        }\n        state.annotate(",
                                "        MemoryClaim grant = state.claim(command.claim());\n        if (grant == null) {\n            return new Reply.Absent();\n        }\n        state.annotate(")
                        .notInRuns());
    }

    private static List<Mutant> latches() {
        return List.of(
                Mutant.of("a count can be set while another counts", "K1")
                        .inExecutor("if (latch.remaining == 0 && command.generation()", "if (command.generation()"),
                Mutant.of("a count goes below zero", "K2")
                        .andSo("K9")
                        .inLatch("Math.max(0, remaining - n)", "remaining - n"),
                Mutant.of("a count-down counts each time it is sent", "K3")
                        .inLatch("if (remaining > 0 && counted.add(id))", "if (remaining > 0)"),
                Mutant.of("a count-down of another generation counts", "K4")
                        .inExecutor(
                                "if (latch != null && latch.generation == command.generation())", "if (latch != null)"),
                Mutant.of("an opened latch lets one pass", "K5")
                        .inState(
                                "            if (!resource.fits(head.weight)) {\n",
                                "            if (!resource.fits(head.weight) || (head.weight == 0 && !admitted.isEmpty())) {\n"));
    }

    private static List<Mutant> input() {
        return List.of(
                Mutant.of("names are folded to lower case", "B1")
                        .andSo("V1", "V2")
                        .inState(
                                "private final Map<ResourceName, MemoryResource> resources = new HashMap<>();",
                                "private final Map<ResourceName, MemoryResource> resources = new java.util.TreeMap<>(java.util.Comparator.comparing(name -> name.value().toLowerCase(java.util.Locale.ROOT)));")
                        .notInRuns(),
                Mutant.of("trailing blanks of names are ignored", "B1")
                        .inState(
                                "private final Map<ResourceName, MemoryResource> resources = new HashMap<>();",
                                "private final Map<ResourceName, MemoryResource> resources = new java.util.TreeMap<>(java.util.Comparator.comparing(name -> name.value().stripTrailing()));")
                        .notInRuns());
    }

    private static List<Mutant> parts() {
        return List.of(
                Mutant.of("a session serves the names of other parts too", "U2")
                        .inParts()
                        .inState(
                                "return session != null && session.partition == partitionOf(resource) ? session : null;",
                                "return session;")
                        .notInRuns(),
                Mutant.of("the end of a session ends its client's sessions in other parts", "U3")
                        .andSo("S5")
                        .inParts()
                        .inExecutor("            state.end(session);\n", """
                                for (MemorySession other : List.copyOf(state.sessions.values())) {
                                    if (other.live && other.partition != session.partition && other.label.equals(session.label)) {
                                        state.end(other);
                                    }
                                }
                                state.end(session);
                                """)
                        .notInRuns(),
                Mutant.of("the epoch of a session is that of its client's sessions in other parts", "U3")
                        .inParts()
                        .inExecutor("        session.epoch = command.epoch();\n", """
                                for (MemorySession other : state.sessions.values()) {
                                    if (other.label.equals(session.label)) {
                                        other.epoch = Math.max(other.epoch, command.epoch());
                                    }
                                }
                                session.epoch = command.epoch();
                                """)
                        .notInRuns(),
                Mutant.of("a keep-alive in one part moves the deadlines of others", "U3")
                        .inParts()
                        .inExecutor("        state.renew(session);\n", """
                                for (MemorySession other : List.copyOf(state.sessions.values())) {
                                    if (other.live && other.label.equals(session.label)) {
                                        state.renew(other);
                                    }
                                }
                                """)
                        .notInRuns());
    }
}
