package com.example.stock;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.BarrierMembership;
import dev.holdfast.Holdfast;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * One of several processes that sell a stock to the last piece, with several threads each: by each approach in turn,
 * each time together. It prints how many pieces it has sold, in which time, and how often another was first.
 */
public final class SellerProgram {

    private static final int THREADS = 4;

    private SellerProgram() {}

    /** Sells what {@code Shop.deliver} has brought. */
    public static void main(String... arguments) throws Exception {
        String database = arguments[0]; // jdbc:postgresql://…
        String databaseLocks = arguments[1]; // postgresql://…
        String redisLocks = arguments[2]; // redis://…
        int processes = Integer.parseInt(arguments[3]);

        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database);
        config.setMaximumPoolSize(THREADS);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (HikariDataSource pool = new HikariDataSource(config);
                Holdfast inDatabase = connect(databaseLocks);
                Holdfast inRedis = connect(redisLocks)) {
            for (Approach approach : Approach.values()) {
                Seller seller = approach.seller(pool, inDatabase, inRedis);
                try (BarrierMembership membership =
                        inRedis.barrier(approach.product(), processes).enter()) {
                    long start = System.nanoTime();
                    int sold = sellAll(seller, approach.product(), threads);
                    long millis = (System.nanoTime() - start) / 1_000_000;
                    membership.leave();
                    System.out.println(approach.product() + ": sold " + sold + " in " + millis + " ms, "
                            + seller.conflicts() + " conflicts");
                }
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** Connects, and waits for longer than the usual ten seconds: all of it may run on one busy machine. */
    private static Holdfast connect(String store) {
        return Holdfast.builder(store).storeTimeout(Duration.ofMinutes(1)).build();
    }

    private static int sellAll(Seller seller, String product, ExecutorService threads) throws Exception {
        List<Future<Integer>> sales = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            sales.add(threads.submit(() -> {
                int sold = 0;
                while (seller.sellOne(product)) {
                    sold++;
                }
                return sold;
            }));
        }
        int all = 0;
        for (Future<Integer> each : sales) {
            all += each.get();
        }
        return all;
    }
}
