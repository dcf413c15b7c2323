package dev.holdfast.servers;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A database server that was started here, with what a test may do to it.
 *
 * <p><b>Thread-safety:</b> connections may be made from any thread, the rest from one at a time.
 */
public abstract class LocalSqlServer extends SqlServer {

    /**
     * What a server is to be like.
     *
     * @param <S> the server
     * @param <B> the builder itself
     */
    public abstract static class Builder<S extends LocalSqlServer, B extends Builder<S, B>> {
        final Map<String, String> options = new LinkedHashMap<>();
        private final Set<String> forSpeed = new HashSet<>();

        Builder() {}

        /** An option that makes tests faster; measurements go without. */
        final void forSpeed(String name, String value) {
            options.put(name, value);
            forSpeed.add(name);
        }

        /** To be called when the usual options are set. */
        final void asItComesIfWanted() {
            if (DefaultSettings.areWanted()) {
                B unused = asItComes();
            }
        }

        abstract B self();

        /** Sets a parameter of the server, written as on the command line or in its configuration. */
        @CanIgnoreReturnValue
        public final B option(String name, String value) {
            options.put(name, value);
            return self();
        }

        /** Flushes what is committed, and has the sizes that it comes with: for measurements. */
        @CanIgnoreReturnValue
        public B asItComes() {
            options.keySet().removeAll(forSpeed);
            return self();
        }

        /** Starts it with a new data directory, and returns when it answers. */
        public abstract S start();
    }

    private final Path directory;
    private final List<String> command;
    private final int port;
    private ServerProcess process;

    LocalSqlServer(String url, Path directory, List<String> command, int port) {
        super(url);
        this.directory = directory;
        this.command = command;
        this.port = port;
        this.process = ServerProcess.start(directory, command);
        awaitAnswer();
    }

    /** Its port on 127.0.0.1. */
    public final int port() {
        return port;
    }

    /** Its process. */
    public final ServerProcess process() {
        return process;
    }

    /** The errors in its log, since its first start. */
    public abstract List<String> errors();

    /** Ends it as a crash would. What was committed is there when it is started again. */
    public final void kill() {
        process.kill();
    }

    /** Starts it again on the same port and the same data, after it was ended. Returns when it answers. */
    public final void restart() {
        process.kill();
        process = ServerProcess.start(directory, command);
        awaitAnswer();
    }

    @Override
    public final void close() {
        process.close();
        Trees.delete(directory); // not only with the JVM: these are larger than others
    }

    private void awaitAnswer() {
        Until.await("a database server answers on port " + port, () -> {
            if (!process.isAlive()) {
                throw new IllegalStateException("The database server did not start: " + process.log());
            }
            // Until it listens, a driver would be slow to say so.
            return Ports.isListenedTo(port) && answers();
        });
    }

    private boolean answers() {
        try (Connection connection = connect()) {
            return connection.isValid(0);
        } catch (SQLException e) {
            return false; // it listens, and has not yet read its data
        }
    }
}
