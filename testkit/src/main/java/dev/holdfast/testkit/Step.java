package dev.holdfast.testkit;

import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Admission;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.StoreTraits.FixedLease;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One step of a random run, without ids and tokens, so that it means the same to the store under test and to the
 * reference, and still makes sense when other steps are left out.
 *
 * @param session the number of the session slot
 * @param thing the resource
 * @param claim the number of the claim; few, so that duplicates are frequent
 * @param other another claim number
 * @param pick a random number that selects the parameters
 */
record Step(Act act, int session, Thing thing, int claim, int other, int pick) {

    static final int SESSIONS = 3;
    static final int CLAIMS = 3;

    /** The operations, with their relative frequency. */
    enum Act {
        ACQUIRE(30),
        POLL(8),
        RELEASE(12),
        WITHDRAW(6),
        YIELD(6),
        ADVANCE(4),
        SHRINK(4),
        EXTEND(4),
        FORCE(2),
        OPEN(5),
        KEEP_ALIVE(8),
        RETIRE(1),
        CLOSE(1),
        SET_COUNT(3),
        COUNT_DOWN(4),
        RESIZE(2),
        AUDIT(3),
        INSPECT(3),
        PASS(10);

        private final int weight;

        Act(int weight) {
            this.weight = weight;
        }
    }

    /** The resources of a run. */
    enum Thing {
        MUTEX(Admission.EXCLUSIVE),
        CATALOGUE(Admission.SHARED),
        PERMITS(Admission.COUNTED),
        LATCH(Admission.LATCH);

        final Admission needs;

        Thing(Admission needs) {
            this.needs = needs;
        }
    }

    /**
     * Draws the steps of a run, without those that the store's traits exclude. Each run uses some of the resources and
     * operations only, so that it explores their interaction more deeply.
     */
    static List<Step> draw(SplittableRandom random, int length, StoreTraits traits, boolean time) {
        List<Act> acts = new ArrayList<>();
        for (Act act : Act.values()) {
            boolean chosen = act == Act.ACQUIRE || random.nextInt(5) < 3;
            for (int i = 0; i < act.weight && chosen && isPossible(act, traits, time); i++) {
                acts.add(act);
            }
        }
        List<Thing> things = things(traits);
        for (int drop = random.nextInt(things.size()); drop > 0; drop--) {
            things.remove(random.nextInt(things.size()));
        }
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            Step fresh = new Step(
                    acts.get(random.nextInt(acts.size())),
                    random.nextInt(SESSIONS),
                    things.get(random.nextInt(things.size())),
                    1 + random.nextInt(CLAIMS),
                    1 + random.nextInt(CLAIMS),
                    random.nextInt(1 << 30));
            // Mostly on the resource of a recent step, because that one may be held.
            int back = 1 + random.nextInt(6);
            steps.add(back <= i && random.nextInt(4) > 0 ? fresh.about(steps.get(i - back)) : fresh);
        }
        return steps;
    }

    private Step about(Step before) {
        return new Step(act, before.session, before.thing, before.claim, other, pick);
    }

    static List<Thing> things(StoreTraits traits) {
        List<Thing> things = new ArrayList<>();
        for (Thing thing : Thing.values()) {
            if (traits.admissions().contains(thing.needs)) {
                things.add(thing);
            }
        }
        return things;
    }

    private static boolean isPossible(Act act, StoreTraits traits, boolean time) {
        return switch (act) {
            case PASS -> time;
            case ADVANCE -> traits.has(Feature.ADVANCE);
            case EXTEND -> traits.fixedLease() != FixedLease.NONE;
            case SET_COUNT, COUNT_DOWN -> traits.admissions().contains(Admission.LATCH);
            // Without FIFO order the store may admit another claim than the reference.
            case YIELD -> traits.has(Feature.FIFO);
            case RESIZE -> traits.admissions().contains(Admission.COUNTED);
            default -> true;
        };
    }

    /** Selects one of several values, always the same one for the same purpose. */
    int oneOf(int purpose, int... values) {
        int mixed = pick * 0x9E3779B9 + purpose * 0x85EBCA6B;
        mixed = (mixed ^ (mixed >>> 15)) * 0x2C1B3C6D;
        return values[Math.floorMod(mixed ^ (mixed >>> 13), values.length)];
    }
}
