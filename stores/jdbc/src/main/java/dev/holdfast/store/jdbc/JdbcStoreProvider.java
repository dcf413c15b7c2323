package dev.holdfast.store.jdbc;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import java.util.Set;

/**
 * Opens {@code postgresql://[user[:password]@]host[:port]/database}, and the same with {@code mysql:} and {@code
 * mariadb:}. User and password are percent-encoded, and an IPv6 address is in brackets. The database's driver must be
 * on the class path.
 *
 * <p>Parameters: {@code prefix} and {@code schema} of the tables, {@code initialize} as in {@link
 * JdbcStore.Initialize}, {@code keepIdle} in the form of {@code report-*:P7D,*:PT1H} as in {@link
 * JdbcStore.Builder#keepIdle}, {@code passwordFile}, a file with the password, {@code timeout} in the form of {@code
 * PT10S}, after which an unanswered statement ends with an unknown outcome, and the TLS parameters of the database's
 * driver: {@code sslmode}, {@code sslrootcert}, {@code sslcert} and {@code sslkey} for PostgreSQL, {@code sslMode} and
 * {@code serverSslCert} for the others. PostgreSQL also has {@code pooler=transaction}, for a pooler in transaction
 * mode. No other parameter reaches a driver.
 */
public final class JdbcStoreProvider implements StoreProvider {

    /** For {@link java.util.ServiceLoader}. */
    public JdbcStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return description().schemeNames();
    }

    @Override
    public LockStore open(StoreUri uri) {
        return DatabaseUris.builder(uri).openHere();
    }
}
