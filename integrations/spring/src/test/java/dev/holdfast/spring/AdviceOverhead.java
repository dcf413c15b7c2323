package dev.holdfast.spring;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/**
 * Measures what a call costs through the advice, beside the same lock taken by code. Not a test: run its main method.
 *
 * <p>Times are of the thread's processor time, so that what other programs take away does not count. All kinds take
 * turns, and the median of each is printed.
 */
final class AdviceOverhead {

    private static final int ROUNDS = 31;
    private static final int CALLS = 10_000;

    private AdviceOverhead() {}

    static class Accounts {

        @Locked("account/7")
        int fixed(Transfer transfer) {
            return transfer.amount();
        }

        @Locked(name = "account", key = "#transfer.from")
        int keyed(Transfer transfer) {
            return transfer.amount();
        }

        int plain(Transfer transfer) {
            return transfer.amount();
        }
    }

    record Transfer(String from, int amount) {}

    @FunctionalInterface
    private interface Operation {
        int run() throws InterruptedException;
    }

    public static void main(String[] args) throws Exception {
        try (World world = new World()) {
            AnnotationConfigApplicationContext context = world.start(Accounts.class);
            Accounts advised = context.getBean(Accounts.class);
            Holdfast holdfast = context.getBean(Holdfast.class);
            Accounts direct = new Accounts();
            Transfer transfer = new Transfer("7", 1);
            LockTemplate template = new LockTemplate(holdfast);
            String[] titles = {"lock by code", "LockTemplate", "@Locked with a name", "@Locked with a key"};
            Operation[] operations = {
                () -> {
                    try (Hold hold = holdfast.lock("account/" + transfer.from()).acquire(Duration.ofSeconds(10))) {
                        return direct.plain(transfer);
                    }
                },
                () -> template.<Integer, RuntimeException>call(
                        "account/" + transfer.from(), () -> direct.plain(transfer)),
                () -> advised.fixed(transfer),
                () -> advised.keyed(transfer)
            };
            print(titles, measure(operations));
        }
    }

    private static long[][] measure(Operation[] operations) throws InterruptedException {
        long[][] nanos = new long[operations.length][ROUNDS];
        for (int round = -5; round < ROUNDS; round++) {
            for (int i = 0; i < operations.length; i++) {
                long taken = repeat(operations[i]);
                if (round >= 0) {
                    nanos[i][round] = taken;
                }
            }
        }
        return nanos;
    }

    private static long repeat(Operation operation) throws InterruptedException {
        var threads = ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadCpuTime();
        int sum = 0;
        for (int i = 0; i < CALLS; i++) {
            sum += operation.run();
        }
        if (sum != CALLS) {
            throw new AssertionError("Some calls were not made");
        }
        return (threads.getCurrentThreadCpuTime() - before) / CALLS;
    }

    private static void print(String[] titles, long[][] nanos) {
        long code = median(nanos[0]);
        for (int i = 0; i < titles.length; i++) {
            long median = median(nanos[i]);
            System.out.printf("%-20s %6d ns, %5d ns more than by code%n", titles[i], median, median - code);
        }
    }

    private static long median(long[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }
}
