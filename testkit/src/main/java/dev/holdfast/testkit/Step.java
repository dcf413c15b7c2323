package dev.holdfast.testkit;

import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Admission;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.StoreTraits.FixedLease;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One step of a random run, told without ids and tokens, so that it means the same to the store under test and to the
 * reference, and still means something when other steps are left out.
 *
 * @param session which of the session slots
 * @param thing what it is about
 * @param claim the number of the claim; few, so that duplicates are frequent
 * @param other another number
 * @param pick what the parameters are drawn from
 */
record Step(Act act, int session, Thing thing, int claim, int other, int pick) {

    static final int SESSIONS = 3;
    static final int CLAIMS = 3;

    /** What is done, and how often as compared to the others. */
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

    /** What the claims of a run are about. */
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
     * Draws the steps of a run, leaving out what the store says it can't do. Each run is about some of the things and
     * does some of the acts, so that it goes deeper into what they do to each other than a run of everything would.
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
            // Mostly about what a step shortly before was about: that is where something may be held.
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
            // Without an order who comes when decides: what the reference does by its queue can't be compared.
            case YIELD -> traits.has(Feature.FIFO);
            case RESIZE -> traits.admissions().contains(Admission.COUNTED);
            default -> true;
        };
    }

    /** One of several, always the same for the same purpose. */
    int oneOf(int purpose, int... values) {
        int mixed = pick * 0x9E3779B9 + purpose * 0x85EBCA6B;
        mixed = (mixed ^ (mixed >>> 15)) * 0x2C1B3C6D;
        return values[Math.floorMod(mixed ^ (mixed >>> 13), values.length)];
    }
}
