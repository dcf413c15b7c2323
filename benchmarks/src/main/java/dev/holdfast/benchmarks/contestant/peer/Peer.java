package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import java.nio.file.Path;
import java.util.function.Function;

/**
 * The locks of others.
 *
 * @param connection how one client connects
 */
record Peer(String title, Function<Path, Contestant.Client> connection) implements Contestant {

    @Override
    public boolean isPeer() {
        return true;
    }

    @Override
    public Client connect(Path place) {
        return connection.apply(place);
    }
}
