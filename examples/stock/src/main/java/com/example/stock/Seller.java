package com.example.stock;

import java.util.concurrent.atomic.LongAdder;

/** Sells pieces of a product, one at a time, and counts how often somebody else was first. Thread-safe. */
abstract class Seller {

    private final LongAdder conflicts = new LongAdder();

    /** Sells a piece, and answers whether there was one left. */
    abstract boolean sellOne(String product) throws Exception;

    /** Somebody else was first: it waits for them, or does its work again. */
    final void countConflict() {
        conflicts.increment();
    }

    final long conflicts() {
        return conflicts.sum();
    }
}
