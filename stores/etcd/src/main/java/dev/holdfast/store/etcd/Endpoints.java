package dev.holdfast.store.etcd;

import dev.holdfast.spi.support.UriReader;
import dev.holdfast.store.etcd.rpc.Channels.Endpoint;
import java.util.ArrayList;
import java.util.List;

/** Parses the addresses of members. */
final class Endpoints {

    static final int PORT = 2379;

    private Endpoints() {}

    /**
     * Parses them.
     *
     * @throws IllegalArgumentException if there are none, or one is not of the form {@code host[:port]}
     */
    static List<Endpoint> read(List<String> addresses) {
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException("An etcd cluster needs at least one endpoint");
        }
        List<Endpoint> endpoints = new ArrayList<>();
        addresses.forEach(place -> endpoints.add(read(place)));
        return List.copyOf(endpoints);
    }

    private static Endpoint read(String place) {
        return UriReader.Server.parse(place, PORT)
                .filter(server -> server.host().chars().allMatch(Endpoints::isOfHost))
                .map(server -> new Endpoint(server.host(), server.port()))
                .orElseThrow(() -> new IllegalArgumentException(
                        "An etcd endpoint must have the form host[:port], with an IPv6 address in "
                                + "brackets, but was '" + place + "'"));
    }

    /** Whether a character may be in a host name or an address. */
    private static boolean isOfHost(int c) {
        return Character.isLetterOrDigit(c) || c == '.' || c == '-' || c == '_' || c == ':' || c == '%';
    }
}
