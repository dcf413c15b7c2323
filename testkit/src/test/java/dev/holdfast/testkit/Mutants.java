package dev.holdfast.testkit;

import java.util.List;

/** The broken stores by which the kit is proved. */
final class Mutants {

    private static final String EXECUTOR = "CommandExecutor";
    private static final String STORE = "ReferenceStore";
    private static final String STATE = "State";
    private static final String CLAIM = "Claim";
    private static final String RESOURCE = "Resource";
    private static final String LATCH = "Latch";
    private static final String REPORTS = "Reports";

    private Mutants() {}

    static List<Mutant> all() {
        return List.of(
                // Sessions
                Mutant.of("a duplicate OpenSession answers the session that is open", "S1")
                        .andSo("S5")
                        .in(STATE, "        long number = ++numbers;\n", """
                                for (Session open : sessions.values()) {
                                    if (open.live && open.label.equals(command.label())) {
                                        return open;
                                    }
                                }
                                long number = ++numbers;
                                """)
                        .notInRuns(),
                Mutant.of("a session that was just opened ends later than its ttl", "S2")
                        .andSo("V3", "W3")
                        .in(STATE, "        renew(session);\n", "        endAt(session, now + session.ttl + 5_000);\n"),
                Mutant.of("a keep-alive does not move the deadline", "S3")
                        .in(EXECUTOR, "        state.renew(session);\n", ""),
                Mutant.of("an Acquire that is sent again keeps the session alive", "S3")
                        .in(EXECUTOR, "return present != null ? present(present) : make(session, command);", """
                                if (present != null) {
                                    state.renew(session);
                                }
                                return present != null ? present(present) : make(session, command);"""),
                Mutant.of("a late keep-alive revives a session that has expired", "S4")
                        .in(STATE, "            sessions.remove(session.id);\n", "")
                        .in(STATE, "    void renew(Session session) {", """
                                @Nullable Session revived(SessionId id) {
                                    Session session = sessions.get(id);
                                    if (session != null && session.endsAt <= now) {
                                        session.live = true;
                                    }
                                    return session != null && session.live ? session : null;
                                }

                                void renew(Session session) {
                                """)
                        .in(
                                EXECUTOR,
                                "Session session = state.liveSession(command.session());\n        if (session == null) {\n            return new Reply.SessionEnded();\n        }\n        if (command.epoch() < session.epoch) {\n            return new Reply.Stale();\n        }\n        session.epoch",
                                "Session session = state.revived(command.session());\n        if (session == null) {\n            return new Reply.SessionEnded();\n        }\n        if (command.epoch() < session.epoch) {\n            return new Reply.Stale();\n        }\n        session.epoch"),
                Mutant.of("closing a session leaves its waiting claims in the queue", "S5")
                        .andSo("K8", "L4")
                        .in(EXECUTOR, "            state.end(session);\n", """
                                var waiting = session.claims.stream().filter(claim -> claim.tokens == null).toList();
                                session.claims.removeAll(waiting);
                                state.end(session);
                                """),
                Mutant.of("keep-alives ignore epochs", "S6")
                        .andSo("S7")
                        .in(
                                EXECUTOR,
                                "            return new Reply.Stale();\n        }\n        session.epoch = command.epoch();",
                                """
                                    return new Reply.SessionAlive();
                                }
                                session.epoch = command.epoch();"""),
                Mutant.of("a stale keep-alive moves the deadline", "S6")
                        .in(
                                EXECUTOR,
                                "            return new Reply.Stale();\n        }\n        session.epoch = command.epoch();",
                                """
                                    state.renew(session);
                                    return new Reply.Stale();
                                }
                                session.epoch = command.epoch();"""),
                Mutant.of("retiring moves the deadline", "S7")
                        .in(
                                EXECUTOR,
                                "            session.epoch = RETIRED;\n",
                                "            session.epoch = RETIRED;\n            state.renew(session);\n"),
                Mutant.of("retiring does nothing", "S7").in(EXECUTOR, "            session.epoch = RETIRED;\n", ""),
                Mutant.of("retiring ends what the session holds", "S7")
                        .in(
                                EXECUTOR,
                                "            session.epoch = RETIRED;\n",
                                "            session.epoch = RETIRED;\n            for (Claim claim : List.copyOf(session.claims)) {\n                state.drop(claim);\n                state.settle(claim.resource);\n            }\n"),
                // Admission
                Mutant.of("weights are summed in 32 bits", "A3")
                        .andSo("A2", "A6", "I7", "R4")
                        .in(RESOURCE, "held + weight <= capacity", "(int) (held + weight) <= capacity"),
                Mutant.of("the queue is served last in, first out", "A4")
                        .andSo("A2", "A5", "A6", "I1", "I6", "I7", "I8", "R4", "W2", "W5", "W7")
                        .in(
                                STATE,
                                "Claim head = resource.queue.values().iterator().next();",
                                "Claim head = List.copyOf(resource.queue.values()).get(resource.queue.size() - 1);"),
                Mutant.of("who comes goes past the queue of a fair resource", "A4")
                        .andSo("A2", "A9", "A11")
                        .in(
                                RESOURCE,
                                "fits(weight) && (queue.isEmpty() || declared.order() == Order.BARGING)",
                                "fits(weight)"),
                Mutant.of("light claims go past a heavy one at the head", "A5")
                        .andSo("A6")
                        .in(
                                STATE,
                                "            if (!resource.fits(head.weight)) {\n                break;\n            }\n",
                                """
                                if (!resource.fits(head.weight)) {
                                    var light = resource.queue.values().stream()
                                            .filter(waiter -> resource.fits(waiter.weight))
                                            .findFirst();
                                    if (light.isEmpty()) {
                                        break;
                                    }
                                    head = light.get();
                                }
                                """),
                Mutant.of("one waiter is admitted at a time", "A6")
                        .andSo("K5")
                        .in(
                                STATE,
                                "        while (!resource.queue.isEmpty()) {\n            Claim head",
                                "        for (int i = 0; i < 1 && !resource.queue.isEmpty(); i++) {\n            Claim head"),
                Mutant.of("barging goes beyond the capacity", "A7")
                        .in(
                                RESOURCE,
                                "fits(weight) && (queue.isEmpty() || declared.order() == Order.BARGING)",
                                "(fits(weight) && queue.isEmpty()) || declared.order() == Order.BARGING")
                        .notInRuns(),
                Mutant.of("claims that declare something else are let in", "A8")
                        .andSo("A11", "I5")
                        .in(
                                EXECUTOR,
                                "!known.declared.equals(command.spec())",
                                "known.declared.kind() == Kind.LATCH && !known.declared.equals(command.spec())"),
                Mutant.of("dead waiters stay in the queue", "A9")
                        .andSo("W4")
                        .in(
                                STATE,
                                "            if (!claim.isDetached()) {\n",
                                "            if (!claim.isDetached() && (claim.tokens != null || now < session.endsAt)) {\n"),
                Mutant.of("a refused try stays in the queue", "A10")
                        .andSo("A1", "A2", "A3", "A4", "B1", "R4", "R5")
                        .in(
                                EXECUTOR,
                                "            return new Reply.Refused(Refusal.TAKEN,",
                                "            state.enqueue(resource, session, command);\n            return new Reply.Refused(Refusal.TAKEN,"),
                Mutant.of("resizing leaves claims waiting that can never fit", "A11")
                        .in(EXECUTOR, "if (waiter.weight > resource.capacity)", "if (waiter.weight < 0)"),
                // Identity
                Mutant.of("an Acquire that is sent again goes to the tail", "I1")
                        .andSo("I6")
                        .in(EXECUTOR, "return present != null ? present(present) : make(session, command);", """
                                if (present != null && present.tokens == null) {
                                    present.resource.queue.remove(present.ref);
                                    present.resource.queue.put(present.ref, present);
                                }
                                return present != null ? present(present) : make(session, command);"""),
                Mutant.of("a late duplicate of an Acquire takes effect", "I2")
                        .andSo("B3", "I3", "S6", "S7")
                        .in(
                                EXECUTOR,
                                "        if (command.epoch() < session.epoch) {\n            return new Reply.Stale();\n        }\n        Claim present",
                                "        Claim present"),
                Mutant.of("an Acquire that says it is a repeat is let through whatever its epoch", "I2")
                        .in(
                                EXECUTOR,
                                "        if (command.epoch() < session.epoch) {\n            return new Reply.Stale();\n        }\n        Claim present",
                                "        if (command.epoch() < session.epoch && command.sending() == Command.Sending.FIRST) {\n            return new Reply.Stale();\n        }\n        Claim present"),
                Mutant.of("a stale Acquire ends the claim", "I3")
                        .in(EXECUTOR, "            return new Reply.Stale();\n        }\n        Claim present", """
                                    Claim stale = state.claim(command.claim());
                                    if (stale != null) {
                                        state.drop(stale);
                                        state.settle(stale.resource);
                                    }
                                    return new Reply.Stale();
                                }
                                Claim present"""),
                Mutant.of("a Yield lets the grant go before it looks at the next claim", "I5")
                        .in(EXECUTOR, "        Acquire next = command.next();\n", """
                                Acquire next = command.next();
                                Claim early = state.grant(command.claim());
                                if (early != null) {
                                    state.drop(early);
                                    state.settle(early.resource);
                                }
                                """),
                Mutant.of("a Yield that is sent again makes nothing", "I6")
                        .in(
                                EXECUTOR,
                                "        if (grant == null) {\n            return acquire(next);\n        }\n",
                                "        if (grant == null) {\n            return new Reply.Absent();\n        }\n"),
                Mutant.of("the next claim of a Yield goes before those who wait", "I7")
                        .andSo("I6", "V5", "W1")
                        .in(
                                EXECUTOR,
                                "        state.drop(grant);\n        state.settle(grant.resource);\n        return acquire(next);",
                                "        state.drop(grant);\n        Reply answer = grant.resource.fits(next.weight()) ? present(state.admit(grant.resource, session, next)) : acquire(next);\n        state.settle(grant.resource);\n        return answer;"),
                // Tokens
                Mutant.of("a token goes back", "T1")
                        .andSo("I7", "R3", "T2", "T3", "T5", "T6", "V3")
                        .in(
                                STATE,
                                "        resource.lastToken = block.last();\n",
                                "        resource.lastToken = block.first() - 1;\n"),
                Mutant.of("a token goes back when it is released by force", "T1")
                        .in(
                                EXECUTOR,
                                "                state.tell(new Signal.Revoked(grant.ref));\n",
                                "                state.tell(new Signal.Revoked(grant.ref));\n                resource.lastToken = tokens.first() - 1;\n"),
                Mutant.of("the token record is dropped on release", "T1")
                        .andSo("I7", "T2", "T6")
                        .in(STATE, "new Rest(resource.lastToken, resource.latch)", "new Rest(floor, resource.latch)"),
                Mutant.of("the token record is purged without a floor", "T2")
                        .in(STATE, "floor = Math.max(floor, oldest.next().getValue().lastToken);", "oldest.next();")
                        .notInRuns(),
                Mutant.of("blocks are larger than asked", "T3")
                        .in(
                                STATE,
                                "Tokens.next(last, now, want)",
                                "Tokens.next(last, now, Math.min(TokenBlock.MAX_SIZE, want * 2))")
                        .notInRuns(),
                Mutant.of("blocks are not capped", "T4")
                        .in(STATE, "        TokenBlock block = Tokens.next(last, now, want);\n", """
                                TokenBlock capped = Tokens.next(last, now, want);
                                TokenBlock block = new TokenBlock(capped.first(), capped.first() + want - 1);
                                """)
                        .notInRuns(),
                Mutant.of("tokens only count, and don't follow the clock", "T4")
                        .in(STATE, "Tokens.next(last, now, want)", "Tokens.next(last, 1_000_000, want)")
                        .notInRuns(),
                Mutant.of("an answer to a repeat carries only the first token", "T5")
                        .andSo("R3", "T6", "V3")
                        .in(
                                STATE,
                                "return new Reply.Granted(tokens,",
                                "return new Reply.Granted(new TokenBlock(tokens.first(), tokens.first()),"),
                Mutant.of("Advance acts whatever block it was sent for", "T6")
                        .in(EXECUTOR, "if (tokens.last() == command.blockEnd())", "if (command.blockEnd() > 0)"),
                Mutant.of("Advance ignores what it is told to stay above", "T6")
                        .in(
                                EXECUTOR,
                                "state.reserve(grant.resource, command.atLeast(), command.tokens())",
                                "state.reserve(grant.resource, 0, command.tokens())")
                        .notInRuns(),
                Mutant.of("Advance gives way to those who wait", "T7")
                        .in(
                                EXECUTOR,
                                "        return new Reply.Advanced(tokens, !grant.resource.queue.isEmpty());",
                                """
                                boolean awaited = !grant.resource.queue.isEmpty();
                                if (awaited) {
                                    state.drop(grant);
                                    state.settle(grant.resource);
                                }
                                return new Reply.Advanced(tokens, awaited);"""),
                // Leases
                Mutant.of("a keep-alive renews bounded grants", "L1")
                        .in(EXECUTOR, "        state.renew(session);\n", """
                                state.renew(session);
                                for (Claim claim : session.claims) {
                                    if (claim.hasOwnLease() && claim.pickedUp) {
                                        state.endAt(claim, state.now() + State.micros(claim.lease.length()));
                                    }
                                }
                                """),
                Mutant.of("bounded grants outlive their session", "L2")
                        .in(
                                CLAIM,
                                "return lease.binding() == Binding.DETACHED && pickedUp;",
                                "return hasOwnLease() && pickedUp;"),
                Mutant.of("detached grants end with their session", "L3")
                        .andSo("L9", "V6")
                        .in(CLAIM, "return lease.binding() == Binding.DETACHED && pickedUp;", "return false;"),
                Mutant.of("detached grants outlive their session before they are picked up", "L4")
                        .in(
                                CLAIM,
                                "return lease.binding() == Binding.DETACHED && pickedUp;",
                                "return lease.binding() == Binding.DETACHED;"),
                Mutant.of("an Acquire that is sent again begins a fixed lease again", "L5")
                        .in(EXECUTOR, "return present != null ? present(present) : make(session, command);", """
                                if (present != null && present.hasOwnLease() && present.pickedUp) {
                                    state.endAt(present, state.now() + State.micros(present.lease.length()));
                                }
                                return present != null ? present(present) : make(session, command);"""),
                Mutant.of("extensions ignore their number", "L7")
                        .in(EXECUTOR, "if (command.seq() > grant.extension)", "if (command.seq() > 0)"),
                Mutant.of("an extension adds to what is left", "L7")
                        .in(
                                EXECUTOR,
                                "state.endAt(grant, state.now() + State.micros(command.lease()));",
                                "state.endAt(grant, grant.endsAt + State.micros(command.lease()));"),
                Mutant.of("an extension makes a fixed lease of a session's", "L8")
                        .in(EXECUTOR, "if (grant == null || !grant.hasOwnLease())", "if (grant == null)"),
                // Waiting
                Mutant.of("a withdrawal of a waiting claim is forgotten", "W2")
                        .andSo("A4", "I2", "I4", "K8", "R5", "W4")
                        .in(
                                EXECUTOR,
                                "        Claim claim = state.claim(command.claim());\n        if (claim != null) {\n",
                                "        Claim claim = state.claim(command.claim());\n        if (claim != null && claim.tokens != null) {\n"),
                Mutant.of("a waiting claim is told to look again too late", "W3")
                        .in(
                                STATE,
                                "recheck = Math.min(recheck, grant.leftInAll(now));",
                                "recheck = Math.max(recheck, grant.leftInAll(now));"),
                Mutant.of("nobody is told that others wait", "W4")
                        .in(
                                STATE,
                                "ownLeaseLeft(claim), !claim.resource.queue.isEmpty())",
                                "ownLeaseLeft(claim), false)"),
                Mutant.of("who is admitted is not told", "W5")
                        .andSo("W8")
                        .in(
                                STATE,
                                "        for (Claim claim : admitted) {\n",
                                "        for (Claim claim : List.<Claim>of()) {\n")
                        .notInRuns(),
                Mutant.of("a forced release is not told", "W5")
                        .in(EXECUTOR, "                state.tell(new Signal.Revoked(grant.ref));\n", "")
                        .notInRuns(),
                Mutant.of("a poll answers in another order", "W6")
                        .in(
                                EXECUTOR,
                                "        return new Reply.Polled(states);",
                                "        java.util.Collections.reverse(states);\n        return new Reply.Polled(states);"),
                // Releases
                Mutant.of("a stranger's release lets the holder's grant go", "R1")
                        .andSo("I8", "L1", "R2", "R3")
                        .in(
                                EXECUTOR,
                                "        if (grant == null) {\n            return new Reply.Absent();\n        }\n        state.drop(grant);",
                                """
                                Resource used = state.inUse(command.resource());
                                if (grant == null && used != null && !used.grants.isEmpty()) {
                                    grant = used.grants.values().iterator().next();
                                }
                                if (grant == null) {
                                    return new Reply.Absent();
                                }
                                state.drop(grant);"""),
                Mutant.of("releasing a waiting claim removes it", "R2")
                        .in(
                                EXECUTOR,
                                "        Claim grant = state.grant(command.claim());\n        if (grant == null) {\n            return new Reply.Absent();\n        }\n        state.drop(grant);",
                                "        Claim grant = state.claim(command.claim());\n        if (grant == null) {\n            return new Reply.Absent();\n        }\n        state.drop(grant);"),
                Mutant.of("a forced release takes the oldest grant, whatever the token", "R3")
                        .in(
                                EXECUTOR,
                                "tokens != null && tokens.first() <= command.token() && command.token() <= tokens.last()",
                                "tokens != null"),
                Mutant.of("shrinking is relative", "R4")
                        .in(
                                EXECUTOR,
                                "Math.max(0, grant.weight - command.weight())",
                                "Math.min(grant.weight - 1, command.weight())"),
                Mutant.of("shrinking can grow", "R4")
                        .in(
                                EXECUTOR,
                                "Math.max(0, grant.weight - command.weight())",
                                "grant.weight - command.weight()"),
                Mutant.of("a withdrawn grant stays in the audit", "R6")
                        .in(
                                EXECUTOR,
                                "        if (claim != null) {\n            state.drop(claim);\n            state.settle(claim.resource);\n",
                                """
                                if (claim != null) {
                                    state.drop(claim);
                                    state.settle(claim.resource);
                                    if (claim.tokens != null) {
                                        claim.session.claims.add(claim);
                                    }
                                """),
                // Listeners
                Mutant.of("who listens last is the only one that is told", "W8")
                        .in(
                                STORE,
                                "        return mailbox.listeners.add(listener);",
                                "        mailbox.listeners.clear();\n        return mailbox.listeners.add(listener);")
                        .notInRuns(),
                Mutant.of("who stops listening takes the others along", "W8")
                        .in(
                                STORE,
                                "        return mailbox.listeners.add(listener);",
                                "        var unused = mailbox.listeners.add(listener);\n        return mailbox.listeners::clear;")
                        .notInRuns(),
                Mutant.of("a listener goes on after its subscription was closed", "W8")
                        .in(
                                STORE,
                                "        return mailbox.listeners.add(listener);",
                                "        var unused = mailbox.listeners.add(listener);\n        return () -> {};")
                        .notInRuns(),
                // Views
                Mutant.of("an inspection leaves out what does not fit the page", "V1")
                        .andSo("B7")
                        .in(
                                REPORTS,
                                "more ? Optional.of(page.get(page.size() - 1).name.value()) : Optional.empty()",
                                "more ? Optional.of(found.get(page.size()).name.value()) : Optional.empty()")
                        .notInRuns(),
                Mutant.of("an inspection goes by the order of Java's strings", "V1")
                        .in(
                                REPORTS,
                                "Comparator.comparing(resource -> resource.name)",
                                "Comparator.comparing(resource -> resource.name.value())")
                        .notInRuns(),
                Mutant.of("a prefix is a pattern", "V2")
                        .in(
                                REPORTS,
                                "name.startsWith(command.prefix())",
                                "name.matches(\"(?s)\" + java.util.regex.Pattern.quote(command.prefix()).replace(\"%\", \"\\\\E.*\\\\Q\").replace(\"_\", \"\\\\E.\\\\Q\") + \".*\")")
                        .notInRuns(),
                Mutant.of("an inspection of one name tells others that begin so", "V7")
                        .in(REPORTS, "name.equals(command.prefix())", "name.startsWith(command.prefix())")
                        .notInRuns(),
                Mutant.of("an inspection of one name tells the first hundred who hold it", "V7")
                        .in(REPORTS, "resource.grants.values(), Integer.MAX_VALUE)", "resource.grants.values(), 100)")
                        .notInRuns(),
                Mutant.of("an inspection counts the holders instead of what they hold", "V3")
                        .andSo("V7")
                        .in(
                                REPORTS,
                                "resource.grants.size(),\n                resource.held,",
                                "resource.grants.size(),\n                resource.grants.size(),"),
                Mutant.of("an audit loses a claim at the end of each page", "V5")
                        .andSo("B7")
                        .in(
                                REPORTS,
                                "            (claim.tokens == null ? waiting : held).add(claim.ref);\n            last = claim.number;",
                                "            (claim.tokens == null ? waiting : held).add(claim.ref);\n            last = claim.number + 1;")
                        .notInRuns(),
                // Latches
                Mutant.of("a count can be set while another counts", "K1")
                        .in(EXECUTOR, "if (latch.remaining == 0 && command.generation()", "if (command.generation()"),
                Mutant.of("a count goes below zero", "K2")
                        .andSo("K9")
                        .in(LATCH, "Math.max(0, remaining - n)", "remaining - n"),
                Mutant.of("a count-down counts each time it is sent", "K3")
                        .in(LATCH, "if (remaining > 0 && counted.add(id))", "if (remaining > 0)"),
                Mutant.of("a count-down of another generation counts", "K4")
                        .in(
                                EXECUTOR,
                                "if (latch != null && latch.generation == command.generation())",
                                "if (latch != null)"),
                Mutant.of("an opened latch lets one pass", "K5")
                        .in(
                                STATE,
                                "            if (!resource.fits(head.weight)) {\n",
                                "            if (!resource.fits(head.weight) || (head.weight == 0 && !admitted.isEmpty())) {\n"),
                // Input
                Mutant.of("names are folded to lower case", "B1")
                        .andSo("V1", "V2")
                        .in(
                                STATE,
                                "private final Map<ResourceName, Resource> resources = new HashMap<>();",
                                "private final Map<ResourceName, Resource> resources = new java.util.TreeMap<>(java.util.Comparator.comparing(name -> name.value().toLowerCase(java.util.Locale.ROOT)));")
                        .notInRuns(),
                Mutant.of("trailing blanks of names are ignored", "B1")
                        .in(
                                STATE,
                                "private final Map<ResourceName, Resource> resources = new HashMap<>();",
                                "private final Map<ResourceName, Resource> resources = new java.util.TreeMap<>(java.util.Comparator.comparing(name -> name.value().stripTrailing()));")
                        .notInRuns(),
                // Parts
                Mutant.of("a session serves the names of other parts too", "U2")
                        .inParts()
                        .in(
                                STATE,
                                "return session != null && session.partition == partitionOf(resource) ? session : null;",
                                "return session;")
                        .notInRuns(),
                Mutant.of("the end of a session ends its client's sessions in other parts", "U3")
                        .andSo("S5")
                        .inParts()
                        .in(EXECUTOR, "            state.end(session);\n", """
                                for (Session other : List.copyOf(state.sessions.values())) {
                                    if (other.live && other.partition != session.partition && other.label.equals(session.label)) {
                                        state.end(other);
                                    }
                                }
                                state.end(session);
                                """)
                        .notInRuns(),
                Mutant.of("the epoch of a session is that of its client's sessions in other parts", "U3")
                        .inParts()
                        .in(EXECUTOR, "        session.epoch = command.epoch();\n", """
                                for (Session other : state.sessions.values()) {
                                    if (other.label.equals(session.label)) {
                                        other.epoch = Math.max(other.epoch, command.epoch());
                                    }
                                }
                                session.epoch = command.epoch();
                                """)
                        .notInRuns(),
                Mutant.of("a keep-alive in one part moves the deadlines of others", "U3")
                        .inParts()
                        .in(EXECUTOR, "        state.renew(session);\n", """
                                for (Session other : List.copyOf(state.sessions.values())) {
                                    if (other.live && other.label.equals(session.label)) {
                                        state.renew(other);
                                    }
                                }
                                """)
                        .notInRuns());
    }
}
