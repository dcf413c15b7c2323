package dev.holdfast.store.etcd;

import dev.holdfast.store.etcd.rpc.Channels.Endpoint;
import java.util.ArrayList;
import java.util.List;

/** Reads the places of members. */
final class Endpoints {

    static final int PORT = 2379;

    private static final int HIGHEST_PORT = 65_535;

    private Endpoints() {}

    /**
     * Reads them.
     *
     * @throws IllegalArgumentException if there are none, or one is not of the form {@code host[:port]}
     */
    static List<Endpoint> read(List<String> places) {
        if (places.isEmpty()) {
            throw new IllegalArgumentException("An etcd cluster is named by one endpoint at least");
        }
        List<Endpoint> endpoints = new ArrayList<>();
        places.forEach(place -> endpoints.add(read(place)));
        return List.copyOf(endpoints);
    }

    private static Endpoint read(String place) {
        int colon = place.endsWith("]") ? -1 : place.lastIndexOf(':');
        String host = colon < 0 ? place : place.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            throw malformed(place);
        }
        if (host.isEmpty() || !host.chars().allMatch(Endpoints::isOfHost)) {
            throw malformed(place);
        }
        return new Endpoint(host, colon < 0 ? PORT : port(place.substring(colon + 1), place));
    }

    /** Letters, digits and what else is in names and addresses. */
    private static boolean isOfHost(int c) {
        return Character.isLetterOrDigit(c) || c == '.' || c == '-' || c == '_' || c == ':' || c == '%';
    }

    private static int port(String text, String place) {
        try {
            int port = Integer.parseInt(text);
            if (port > 0 && port <= HIGHEST_PORT) {
                return port;
            }
        } catch (NumberFormatException e) {
            // Told below, with what is right.
        }
        throw malformed(place);
    }

    private static IllegalArgumentException malformed(String place) {
        return new IllegalArgumentException(
                "An endpoint of etcd has the form host[:port], with an address of IPv6 in brackets, unlike '" + place
                        + "'");
    }
}
