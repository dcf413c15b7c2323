package dev.holdfast.servers;

/** One of the servers of a {@link Cluster}, which keeps its data on disk. */
public interface Member extends AutoCloseable {

    /** Its port for clients on 127.0.0.1. */
    int port();

    /** Its process. */
    ServerProcess process();

    /** Restarts it, running or stopped, on the same port with its data, and returns when it replies. */
    void restart();

    /** Restarts it with another value of a setting, see {@link #restart()}. */
    void restartWith(String name, String value);

    @Override
    void close();
}
