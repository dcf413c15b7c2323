package dev.holdfast.servers;

/** One of the servers of a {@link Cluster}, which keeps its data on disk. */
public interface Member extends AutoCloseable {

    /** Its port for clients on 127.0.0.1. */
    int port();

    /** Its process. */
    ServerProcess process();

    /** Starts it again on the same port with its data, whether or not it was ended. Returns when it answers. */
    void restart();

    /** As {@link #restart()}, with another value of a setting. */
    void restartWith(String name, String value);

    @Override
    void close();
}
