package dev.holdfast.testkit;

import java.util.List;
import java.util.stream.Stream;

/** The broken stores by which the kit is proved. */
final class Mutants {

    private Mutants() {}

    static List<Mutant> all() {
        return Stream.concat(ClaimMutants.all(), ViewMutants.all()).toList();
    }
}
