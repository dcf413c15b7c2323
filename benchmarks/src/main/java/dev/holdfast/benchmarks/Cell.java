package dev.holdfast.benchmarks;

/**
 * One thing to measure, in a fresh JVM.
 *
 * @param id what the command line and the figures call it, within its workload
 */
record Cell(String id, Body body) {

    /** Measures. */
    @FunctionalInterface
    interface Body {
        void run(Bench bench, Sheet sheet) throws Exception;
    }
}
