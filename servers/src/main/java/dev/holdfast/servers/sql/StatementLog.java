package dev.holdfast.servers.sql;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Connections to a URL that write down what is asked of them. */
public class StatementLog extends TestSource {

    private static final ClassLoader LOADER = StatementLog.class.getClassLoader();

    private final List<String> said = new CopyOnWriteArrayList<>();

    public StatementLog(String url) {
        super(url);
    }

    /** The statements so far, and the names of the methods of connections. */
    public final List<String> said() {
        return List.copyOf(said);
    }

    @Override
    public Connection getConnection() throws SQLException {
        return observed(super.getConnection());
    }

    /** What comes between a call and the driver; the text is that of the statement, or the name of the method. */
    public Object call(Connection connection, String text, Call call) throws Throwable {
        said.add(text);
        return call.make();
    }

    /** A call of the driver. */
    public interface Call {
        Object make() throws Throwable;
    }

    /** A connection whose statements are written down. */
    public final Connection observed(Connection connection) {
        return (Connection) proxy(Connection.class, (proxy, method, arguments) -> {
            String name = method.getName();
            if (name.equals("unwrap") && ((Class<?>) arguments[0]).isInstance(proxy)) {
                return proxy;
            }
            Call call = () -> invoke(connection, method, arguments);
            if (name.equals("prepareStatement")) {
                return statement(
                        PreparedStatement.class, connection, (PreparedStatement) call.make(), (String) arguments[0]);
            } else if (name.equals("createStatement")) {
                return statement(Statement.class, connection, (Statement) call.make(), "");
            }
            return name.equals("commit") || name.equals("rollback") || name.endsWith("TransactionIsolation")
                    ? call(connection, name, call)
                    : call.make();
        });
    }

    private Object statement(Class<? extends Statement> type, Connection connection, Statement real, String text) {
        return proxy(type, (proxy, method, arguments) -> {
            Call call = () -> invoke(real, method, arguments);
            return method.getName().startsWith("execute")
                    ? call(
                            connection,
                            arguments != null && arguments.length > 0 ? String.valueOf(arguments[0]) : text,
                            call)
                    : call.make();
        });
    }

    private static Object proxy(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(LOADER, new Class<?>[] {type}, (proxy, method, arguments) -> {
            if (method.getDeclaringClass() == Object.class) {
                return switch (method.getName()) {
                    case "equals" -> proxy == arguments[0];
                    case "hashCode" -> System.identityHashCode(proxy);
                    default -> "observed " + type.getSimpleName();
                };
            }
            return handler.invoke(proxy, method, arguments);
        });
    }

    private static Object invoke(Object target, java.lang.reflect.Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
