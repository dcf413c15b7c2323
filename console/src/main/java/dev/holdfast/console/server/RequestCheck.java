package dev.holdfast.console.server;

import com.sun.net.httpserver.Headers;
import dev.holdfast.console.ConsoleAnswer;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests that another site made a browser send: those with the name of another host, as after a change of its
 * DNS record (rebinding), and those whose origin is another page (request forgery).
 */
final class RequestCheck {

    static final int MAX_BODY = 8_192;
    private static final int MAX_URI = 8_192;

    private final Set<String> local;
    private final Set<String> proxied;

    /**
     * Accepts requests to this machine, and to names under which a proxy on this machine is reached.
     *
     * @param port the port of this server
     * @param proxyHosts names as they are in the header, with a port unless it is the usual one
     */
    RequestCheck(int port, Set<String> proxyHosts) {
        local = Set.of("127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port);
        proxied = proxyHosts;
    }

    /** Why a request is refused; empty if it isn't. */
    Optional<ConsoleAnswer> refuse(String method, String uri, Headers headers) {
        if (uri.length() > MAX_URI) {
            return refusal(414, "uri-too-long", "The address is longer than " + MAX_URI + " characters.");
        }
        String host = only(headers, "Host");
        if (host == null || !isKnown(host.toLowerCase(Locale.ROOT))) {
            return refusal(
                    421,
                    "unknown-host",
                    "This console answers on this machine only. To reach it under another name, start it with"
                            + " --proxy-host.");
        }
        return switch (method) {
            case "GET", "HEAD" -> refuseGet(uri, headers);
            case "POST" -> refusePost(host.toLowerCase(Locale.ROOT), headers);
            default -> refusal(405, "method", "Only GET and POST are answered.");
        };
    }

    private boolean isKnown(String host) {
        return local.contains(host) || proxied.contains(host);
    }

    /** Data is for the page and for people who type its address; other sites may link to the page itself. */
    private static Optional<ConsoleAnswer> refuseGet(String uri, Headers headers) {
        String site = headers.getFirst("Sec-Fetch-Site");
        boolean isOther = site != null && !site.equals("same-origin") && !site.equals("none");
        return uri.startsWith("/api/") && isOther
                ? refusal(403, "other-origin", "The request comes from another page.")
                : Optional.empty();
    }

    private Optional<ConsoleAnswer> refusePost(String host, Headers headers) {
        String origin = only(headers, "Origin");
        boolean isOwn = origin != null && isOrigin(origin.toLowerCase(Locale.ROOT), host);
        String site = headers.getFirst("Sec-Fetch-Site");
        if (!isOwn || (site != null && !site.equals("same-origin"))) {
            return refusal(403, "other-origin", "The request comes from another page.");
        }
        String type = only(headers, "Content-Type");
        if (type == null || !type.split(";", 2)[0].strip().equalsIgnoreCase(ConsoleAnswer.JSON)) {
            return refusal(415, "media-type", "The body must be JSON.");
        }
        return Optional.empty();
    }

    /** Whether a page of this server sends the request; one behind a proxy is encrypted. */
    private boolean isOrigin(String origin, String host) {
        return origin.equals("http://" + host) || (proxied.contains(host) && origin.equals("https://" + host));
    }

    /** The value of a header that may occur once. */
    private static @Nullable String only(Headers headers, String name) {
        List<String> values = headers.get(name);
        return values == null || values.size() != 1 ? null : values.get(0);
    }

    private static Optional<ConsoleAnswer> refusal(int status, String type, String detail) {
        return Optional.of(ConsoleAnswer.problem(status, type, "Refused", detail));
    }
}
