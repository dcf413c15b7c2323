package com.example.takeover;

import dev.holdfast.sql.rows.FenceGuard;
import dev.holdfast.sql.rows.RowTables;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

/** What the instances write to. It refuses whoever has outlived its lease: the guard is the first step of a write. */
@Repository
class Ledger {

    private final FenceGuard guard = FenceGuard.usual();
    private final JdbcTemplate jdbc;

    Ledger(DataSource database, JdbcTemplate jdbc) throws SQLException {
        this.jdbc = jdbc;
        RowTables.usual().createIfMissing(database);
    }

    @Transactional
    public void append(String author, long token, String holdId) {
        jdbc.execute((ConnectionCallback<Void>) connection -> {
            guard.check(connection, "ledger", token, holdId);
            return null;
        });
        jdbc.update("INSERT INTO ledger (author, token) VALUES (?, ?)", author, token);
    }
}
