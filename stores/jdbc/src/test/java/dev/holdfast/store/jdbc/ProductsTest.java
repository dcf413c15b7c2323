package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.spi.StoreException;
import dev.holdfast.sql.database.MysqlVariant;
import dev.holdfast.store.jdbc.server.Product;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("The product and version of a database")
class ProductsTest {

    @ParameterizedTest
    @CsvSource({
        "MySQL,   5.5.5-10.11.6-MariaDB-log, true,  10.11.6-MariaDB-log, 10, 11",
        "MySQL,   5.5.5-10.11,               true,  10.11,               10, 11",
        "MariaDB, 11.4.5-MariaDB,            true,  11.4.5-MariaDB,      11, 4",
        "MySQL,   11.4.5-MariaDB-ubu2404,    true,  11.4.5-MariaDB-ubu2404, 11, 4",
        "MariaDB, 10.6.18,                   true,  10.6.18,             10, 6",
        "MySQL,   8.0.33,                    false, 8.0.33,              8,  0",
        "MySQL,   9.7.0-commercial,          false, 9.7.0-commercial,    9,  7",
        "MySQL,   5.5.5-m3,                  false, 5.5.5-m3,            5,  5",
        "MySQL,   unknown,                   false, unknown,             0,  0",
    })
    @DisplayName("are those of the server, whichever driver tells them")
    void byText(String product, String version, boolean isMariaDb, String bare, int major, int minor) {
        assertThat(MysqlVariant.of(product, version)).isEqualTo(new MysqlVariant(isMariaDb, bare, major, minor));
    }

    @Test
    @Tag("server")
    @Tag("mysql")
    @DisplayName("are asked of the server, where a driver or a proxy calls it something else")
    void bySelect() throws SQLException {
        try (Connection real = DriverManager.getConnection(TestDatabase.MARIADB.newUrl())) {
            String known = Products.of(real, null, "holdfast_").title();
            for (String greeting : new String[] {"5.5.5-10.11.6-MariaDB", "5.5.5-10.11", "5.7.44"}) {
                Product product = Products.of(called(real, "MySQL", greeting), null, "holdfast_");

                assertThat(product.title()).isEqualTo(known);
            }
            assertThat(known).startsWith(MariaDbOrMysql.isMysql() ? "MySQL " : "MariaDB 1");
            assertThatThrownBy(() -> Products.of(called(real, "Oracle", "23"), null, "holdfast_"))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("Oracle 23");
        }
    }

    /** A connection whose driver reports another product and version. */
    private static Connection called(Connection real, String product, String version) throws SQLException {
        DatabaseMetaData data = proxy(DatabaseMetaData.class, real.getMetaData(), "getDatabaseProductName", product);
        DatabaseMetaData both = proxy(DatabaseMetaData.class, data, "getDatabaseProductVersion", version);
        return proxy(Connection.class, real, "getMetaData", both);
    }

    private static <T> T proxy(Class<T> type, T real, String replaced, Object answer) {
        return type.cast(Proxy.newProxyInstance(
                ProductsTest.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (method.getName().equals(replaced)) {
                        return answer;
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
