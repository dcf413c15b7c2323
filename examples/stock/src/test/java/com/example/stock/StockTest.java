package com.example.stock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.Programs;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.sql.rows.RowTables;
import java.net.URI;
import java.sql.Connection;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

@DisplayName("A stock that several threads of two processes sell from")
@Tag("server")
@Tag("process")
class StockTest {

    private static final int PIECES = 300;
    private static final int PROCESSES = 2;

    @Test
    @DisplayName("is sold to the last piece, and no piece twice, by every approach")
    void soldOnce() throws Exception {
        String url = PostgresServer.shared().newDatabase();
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(url);
        Shop.createTables(database);
        RowTables.usual().createIfMissing(database);
        for (Approach approach : Approach.values()) {
            Shop.deliver(database, approach.product(), PIECES);
        }
        URI place = URI.create(url.substring("jdbc:".length()));
        String locks = "postgresql://postgres@" + place.getAuthority() + place.getPath();
        try (RedisServer redis = RedisServer.start();
                Programs programs = new Programs();
                Connection connection = database.getConnection()) {
            for (int i = 0; i < PROCESSES; i++) {
                programs.start(SellerProgram.class, url, locks, "redis://127.0.0.1:" + redis.port(), "" + PROCESSES);
            }
            SalesTable table = new SalesTable();
            for (Approach approach : Approach.values()) {
                int counted = table.add(programs.awaitLines(SalesTable.lineOf(approach), PROCESSES));
                assertThat(counted).as(approach.product()).isEqualTo(PIECES);
                assertThat(Shop.soldOf(connection, approach.product())).isEqualTo(PIECES);
                assertThat(Shop.stockOf(connection, approach.product())).isZero();
            }
            System.out.print(table);
        }
    }
}
