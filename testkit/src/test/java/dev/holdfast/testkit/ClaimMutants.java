package dev.holdfast.testkit;

import java.util.List;
import java.util.stream.Stream;

/** The broken stores that go wrong about sessions and the grants of claims. */
final class ClaimMutants {

    private ClaimMutants() {}

    static Stream<Mutant> all() {
        return Stream.of(sessions(), admission(), identity(), tokens(), leases(), releases())
                .flatMap(List::stream);
    }

    private static List<Mutant> sessions() {
        return List.of(
                Mutant.of("a duplicate OpenSession answers the session that is open", "S1")
                        .andSo("S5")
                        .inState("        long number = ++numbers;\n", """
                                for (MemorySession open : sessions.values()) {
                                    if (open.live && open.label.equals(command.label())) {
                                        return open;
                                    }
                                }
                                long number = ++numbers;
                                """)
                        .notInRuns(),
                Mutant.of("a session that was just opened ends later than its ttl", "S2")
                        .andSo("V3", "W3")
                        .inState("        renew(session);\n", "        endAt(session, now + session.ttl + 5_000);\n"),
                Mutant.of("a keep-alive does not move the deadline", "S3")
                        .inExecutor("        state.renew(session);\n", ""),
                Mutant.of("an Acquire that is sent again keeps the session alive", "S3")
                        .inExecutor("return present != null ? present(present) : make(session, command);", """
                                if (present != null) {
                                    state.renew(session);
                                }
                                return present != null ? present(present) : make(session, command);"""),
                Mutant.of("a late keep-alive revives a session that has expired", "S4")
                        .inState("            sessions.remove(session.id);\n", "")
                        .inState("    void renew(MemorySession session) {", """
                                @Nullable MemorySession revived(SessionId id) {
                                    MemorySession session = sessions.get(id);
                                    if (session != null && session.endsAt <= now) {
                                        session.live = true;
                                    }
                                    return session != null && session.live ? session : null;
                                }

                                void renew(MemorySession session) {
                                """)
                        .inExecutor(
                                "MemorySession session = state.liveSession(command.session());\n        if (session == null) {\n            return new Reply.SessionEnded();\n        }\n        if (command.epoch() < session.epoch) {\n            return new Reply.Stale();\n        }\n        session.epoch",
                                "MemorySession session = state.revived(command.session());\n        if (session == null) {\n            return new Reply.SessionEnded();\n        }\n        if (command.epoch() < session.epoch) {\n            return new Reply.Stale();\n        }\n        session.epoch"),
                Mutant.of("closing a session leaves its waiting claims in the queue", "S5")
                        .andSo("K8", "L4", "V9")
                        .inExecutor("            state.end(session);\n", """
                                var waiting = session.claims.stream().filter(claim -> claim.tokens == null).toList();
                                session.claims.removeAll(waiting);
                                state.end(session);
                                """),
                Mutant.of("keep-alives ignore epochs", "S6")
                        .andSo("S7")
                        .inExecutor(
                                "            return new Reply.Stale();\n        }\n        session.epoch = command.epoch();",
                                """
                                    return new Reply.SessionAlive();
                                }
                                session.epoch = command.epoch();"""),
                Mutant.of("a stale keep-alive moves the deadline", "S6")
                        .inExecutor(
                                "            return new Reply.Stale();\n        }\n        session.epoch = command.epoch();",
                                """
                                    state.renew(session);
                                    return new Reply.Stale();
                                }
                                session.epoch = command.epoch();"""),
                Mutant.of("retiring moves the deadline", "S7")
                        .inExecutor(
                                "            session.epoch = RETIRED;\n",
                                "            session.epoch = RETIRED;\n            state.renew(session);\n"),
                Mutant.of("retiring does nothing", "S7").inExecutor("            session.epoch = RETIRED;\n", ""),
                Mutant.of("retiring ends what the session holds", "S7")
                        .inExecutor(
                                "            session.epoch = RETIRED;\n",
                                "            session.epoch = RETIRED;\n            for (MemoryClaim claim : List.copyOf(session.claims)) {\n                state.drop(claim);\n                state.settle(claim.resource);\n            }\n"));
    }

    private static List<Mutant> admission() {
        return List.of(
                Mutant.of("weights are summed in 32 bits", "A3")
                        .andSo("A2", "A6", "I7", "R4")
                        .inResource("heldWeight + weight <= capacity", "(int) (heldWeight + weight) <= capacity"),
                Mutant.of("the queue is served last in, first out", "A4")
                        .andSo("A2", "A5", "A6", "I1", "I6", "I7", "I8", "R4", "V10", "W2", "W5", "W7")
                        .inState(
                                "MemoryClaim head = resource.queue.values().iterator().next();",
                                "MemoryClaim head = List.copyOf(resource.queue.values()).get(resource.queue.size() - 1);"),
                Mutant.of("who comes goes past the queue of a fair resource", "A4")
                        .andSo("A2", "A9", "A11")
                        .inResource(
                                "fits(weight) && (queue.isEmpty() || declared.order() == Order.BARGING)",
                                "fits(weight)"),
                Mutant.of("light claims go past a heavy one at the head", "A5")
                        .andSo("A6")
                        .inState(
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
                        .inState(
                                "        while (!resource.queue.isEmpty()) {\n            MemoryClaim head",
                                "        for (int i = 0; i < 1 && !resource.queue.isEmpty(); i++) {\n            MemoryClaim head"),
                Mutant.of("barging goes beyond the capacity", "A7")
                        .inResource(
                                "fits(weight) && (queue.isEmpty() || declared.order() == Order.BARGING)",
                                "(fits(weight) && queue.isEmpty()) || declared.order() == Order.BARGING")
                        .notInRuns(),
                Mutant.of("claims that declare something else are let in", "A8")
                        .andSo("A11", "I5")
                        .inExecutor(
                                "!known.declared.equals(command.spec())",
                                "known.declared.kind() == Kind.LATCH && !known.declared.equals(command.spec())"),
                Mutant.of("dead waiters stay in the queue", "A9")
                        .andSo("W4")
                        .inState(
                                "            if (!claim.isDetached()) {\n",
                                "            if (!claim.isDetached() && (claim.tokens != null || now < session.endsAt)) {\n"),
                Mutant.of("a refused try stays in the queue", "A10")
                        .andSo("A1", "A2", "A3", "A4", "B1", "R4", "R5")
                        .inExecutor(
                                "            return ReferenceReports.taken(state, resource);",
                                "            state.enqueue(resource, session, command);\n            return ReferenceReports.taken(state, resource);"),
                Mutant.of("resizing leaves claims waiting that can never fit", "A11")
                        .inExecutor("if (waiter.weight > resource.capacity)", "if (waiter.weight < 0)"));
    }

    private static List<Mutant> identity() {
        return List.of(
                Mutant.of("an Acquire that is sent again goes to the tail", "I1")
                        .andSo("I6")
                        .inExecutor("return present != null ? present(present) : make(session, command);", """
                                if (present != null && present.tokens == null) {
                                    present.resource.queue.remove(present.ref);
                                    present.resource.queue.put(present.ref, present);
                                }
                                return present != null ? present(present) : make(session, command);"""),
                Mutant.of("a late duplicate of an Acquire takes effect", "I2")
                        .andSo("B3", "I3", "S6", "S7")
                        .inExecutor(
                                "        if (command.epoch() < session.epoch) {\n            return new Reply.Stale();\n        }\n        MemoryClaim present",
                                "        MemoryClaim present"),
                Mutant.of("an Acquire that says it is a repeat is let through whatever its epoch", "I2")
                        .inExecutor(
                                "        if (command.epoch() < session.epoch) {\n            return new Reply.Stale();\n        }\n        MemoryClaim present",
                                "        if (command.epoch() < session.epoch && command.sending() == Command.Sending.FIRST) {\n            return new Reply.Stale();\n        }\n        MemoryClaim present"),
                Mutant.of("a stale Acquire ends the claim", "I3")
                        .inExecutor(
                                "            return new Reply.Stale();\n        }\n        MemoryClaim present", """
                                    MemoryClaim stale = state.claim(command.claim());
                                    if (stale != null) {
                                        state.drop(stale);
                                        state.settle(stale.resource);
                                    }
                                    return new Reply.Stale();
                                }
                                MemoryClaim present"""),
                Mutant.of("a Yield lets the grant go before it looks at the next claim", "I5")
                        .inExecutor("        Acquire next = command.next();\n", """
                                Acquire next = command.next();
                                MemoryClaim early = state.grant(command.claim());
                                if (early != null) {
                                    state.drop(early);
                                    state.settle(early.resource);
                                }
                                """),
                Mutant.of("a Yield that is sent again makes nothing", "I6")
                        .inExecutor(
                                "        if (grant == null) {\n            return acquire(next);\n        }\n",
                                "        if (grant == null) {\n            return new Reply.Absent();\n        }\n"),
                Mutant.of("the next claim of a Yield goes before those who wait", "I7")
                        .andSo("I6", "V5", "W1", "W5")
                        .inExecutor(
                                "        state.drop(grant);\n        state.settle(grant.resource);\n        return acquire(next);",
                                "        state.drop(grant);\n        Reply answer = grant.resource.fits(next.weight()) ? present(state.admit(grant.resource, state.liveSession(next.claim().session(), next.resource()), next)) : acquire(next);\n        state.settle(grant.resource);\n        return answer;"));
    }

    private static List<Mutant> tokens() {
        return List.of(
                Mutant.of("a token goes back", "T1")
                        .andSo("I7", "R3", "T2", "T3", "T5", "T6", "V3")
                        .inState(
                                "        resource.lastToken = block.last();\n",
                                "        resource.lastToken = block.first() - 1;\n"),
                Mutant.of("a token goes back when it is released by force", "T1")
                        .inExecutor(
                                "                state.signal(new Signal.Revoked(grant.ref));\n",
                                "                state.signal(new Signal.Revoked(grant.ref));\n                resource.lastToken = tokens.first() - 1;\n"),
                Mutant.of("the token record is dropped on release", "T1")
                        .andSo("I7", "T2", "T6")
                        .inState(
                                "new IdleRecord(resource.lastToken, resource.latch)",
                                "new IdleRecord(floor, resource.latch)"),
                Mutant.of("the token record is purged without a floor", "T2")
                        .inState("floor = Math.max(floor, oldest.next().getValue().lastToken);", "oldest.next();")
                        .notInRuns(),
                Mutant.of("blocks are larger than asked", "T3")
                        .inState(
                                "Tokens.next(last, now, want)",
                                "Tokens.next(last, now, Math.min(TokenBlock.MAX_SIZE, want * 2))")
                        .notInRuns(),
                Mutant.of("blocks are not capped", "T4")
                        .inState("        TokenBlock block = Tokens.next(last, now, want);\n", """
                                TokenBlock capped = Tokens.next(last, now, want);
                                TokenBlock block = new TokenBlock(capped.first(), capped.first() + want - 1);
                                """)
                        .notInRuns(),
                Mutant.of("tokens only count, and don't follow the clock", "T4")
                        .inState("Tokens.next(last, now, want)", "Tokens.next(last, 1_000_000, want)")
                        .notInRuns(),
                Mutant.of("an answer to a repeat carries only the first token", "T5")
                        .andSo("R3", "T6", "V3")
                        .inState(
                                "return new Reply.Granted(tokens,",
                                "return new Reply.Granted(new TokenBlock(tokens.first(), tokens.first()),"),
                Mutant.of("Advance acts whatever block it was sent for", "T6")
                        .inExecutor("if (tokens.last() == command.blockEnd())", "if (command.blockEnd() > 0)"),
                Mutant.of("Advance ignores what it is told to stay above", "T6")
                        .inExecutor(
                                "state.reserve(grant.resource, command.atLeast(), command.tokens())",
                                "state.reserve(grant.resource, 0, command.tokens())")
                        .notInRuns(),
                Mutant.of("Advance gives way to those who wait", "T7")
                        .inExecutor(
                                "        return new Reply.Advanced(tokens, !grant.resource.queue.isEmpty());", """
                                boolean awaited = !grant.resource.queue.isEmpty();
                                if (awaited) {
                                    state.drop(grant);
                                    state.settle(grant.resource);
                                }
                                return new Reply.Advanced(tokens, awaited);"""));
    }

    private static List<Mutant> leases() {
        return List.of(
                Mutant.of("a keep-alive renews bounded grants", "L1")
                        .inExecutor("        state.renew(session);\n", """
                                state.renew(session);
                                for (MemoryClaim claim : session.claims) {
                                    if (claim.hasFixedLease() && claim.pickedUp) {
                                        state.endAt(claim, state.now() + Micros.of(claim.lease.length()));
                                    }
                                }
                                """),
                Mutant.of("bounded grants outlive their session", "L2")
                        .inClaim(
                                "return lease.binding() == Binding.DETACHED && pickedUp;",
                                "return hasFixedLease() && pickedUp;"),
                Mutant.of("detached grants end with their session", "L3")
                        .andSo("L9", "V6")
                        .inClaim("return lease.binding() == Binding.DETACHED && pickedUp;", "return false;"),
                Mutant.of("detached grants outlive their session before they are picked up", "L4")
                        .inClaim(
                                "return lease.binding() == Binding.DETACHED && pickedUp;",
                                "return lease.binding() == Binding.DETACHED;"),
                Mutant.of("an Acquire that is sent again begins a fixed lease again", "L5")
                        .inExecutor("return present != null ? present(present) : make(session, command);", """
                                if (present != null && present.hasFixedLease() && present.pickedUp) {
                                    state.endAt(present, state.now() + Micros.of(present.lease.length()));
                                }
                                return present != null ? present(present) : make(session, command);"""),
                Mutant.of("extensions ignore their number", "L7")
                        .inExecutor("if (command.seq() > grant.extension)", "if (command.seq() > 0)"),
                Mutant.of("an extension adds to what is left", "L7")
                        .inExecutor(
                                "state.endAt(grant, state.now() + Micros.of(command.lease()));",
                                "state.endAt(grant, grant.endsAt + Micros.of(command.lease()));"),
                Mutant.of("an extension makes a fixed lease of a session's", "L8")
                        .inExecutor("if (grant == null || !grant.hasFixedLease())", "if (grant == null)"));
    }

    private static List<Mutant> releases() {
        return List.of(
                Mutant.of("a stranger's release lets the holder's grant go", "R1")
                        .andSo("I8", "L1", "R2", "R3")
                        .inExecutor(
                                "        if (grant == null) {\n            return new Reply.Absent();\n        }\n        state.drop(grant);",
                                """
                                MemoryResource used = state.inUse(command.resource());
                                if (grant == null && used != null && !used.grants.isEmpty()) {
                                    grant = used.grants.values().iterator().next();
                                }
                                if (grant == null) {
                                    return new Reply.Absent();
                                }
                                state.drop(grant);"""),
                Mutant.of("releasing a waiting claim removes it", "R2")
                        .inExecutor(
                                "        MemoryClaim grant = state.grant(command.claim());\n        if (grant == null) {\n            return new Reply.Absent();\n        }\n        state.drop(grant);",
                                "        MemoryClaim grant = state.claim(command.claim());\n        if (grant == null) {\n            return new Reply.Absent();\n        }\n        state.drop(grant);"),
                Mutant.of("a forced release takes the oldest grant, whatever the token", "R3")
                        .inExecutor(
                                "tokens != null && tokens.first() <= command.token() && command.token() <= tokens.last()",
                                "tokens != null"),
                Mutant.of("shrinking is relative", "R4")
                        .inExecutor(
                                "Math.max(0, grant.weight - command.weight())",
                                "Math.min(grant.weight - 1, command.weight())"),
                Mutant.of("shrinking can grow", "R4")
                        .inExecutor("Math.max(0, grant.weight - command.weight())", "grant.weight - command.weight()"),
                Mutant.of("a withdrawn grant stays in the audit", "R6")
                        .inExecutor(
                                "        if (claim != null) {\n            state.drop(claim);\n            state.settle(claim.resource);\n",
                                """
                                if (claim != null) {
                                    state.drop(claim);
                                    state.settle(claim.resource);
                                    if (claim.tokens != null) {
                                        claim.session.claims.add(claim);
                                    }
                                """));
    }
}
