package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;
import dev.holdfast.console.ConsoleAnswer;
import dev.holdfast.console.LockConsole;
import dev.holdfast.console.PageFile;
import dev.holdfast.console.StateFeed;
import dev.holdfast.spi.ResourceName;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.util.MimeType;

/**
 * Actuator endpoint that serves the console's page, for each of the application's clients, under the application's own
 * security. It releases locks only while the access of {@link HoldfastEndpoint} is unrestricted. With Spring MVC and
 * WebFlux, pages are kept up to date by server-sent events; with others, they poll.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
@WebEndpoint(id = "holdfastconsole", defaultAccess = Access.UNRESTRICTED)
// Only the actuator uses what the annotations name.
@SuppressWarnings("exports")
public final class HoldfastConsoleEndpoint implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(HoldfastConsoleEndpoint.class);

    private final HoldfastClients clients;
    private final BooleanSupplier readOnly;
    private final String path;
    private final Set<String> tasks;
    private final @Nullable ConsoleEvents events;
    private final Map<String, LockConsole> consoles = new ConcurrentHashMap<>();
    private final Map<String, StateFeed> feeds = new ConcurrentHashMap<>();
    private volatile boolean closing;

    /**
     * An endpoint of some clients.
     *
     * @param readOnly whether locks may not be released
     * @param path the last segment of the path of this endpoint, to which links are relative
     * @param tasks scheduled tasks to show, without the prefix of names
     * @param events how events are sent; null if the web framework can't
     */
    HoldfastConsoleEndpoint(
            HoldfastClients clients,
            BooleanSupplier readOnly,
            String path,
            Set<String> tasks,
            @Nullable ConsoleEvents events) {
        this.clients = clients;
        this.readOnly = readOnly;
        this.path = path;
        this.tasks = Set.copyOf(tasks);
        this.events = events;
    }

    /** Links to the page of each client; with one client, the browser follows its link at once. */
    @ReadOperation
    public WebEndpointResponse<byte[]> clients() {
        List<String> names = clients.names();
        StringBuilder html =
                new StringBuilder("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Holdfast</title>");
        if (names.size() == 1) {
            html.append("<meta http-equiv=\"refresh\" content=\"0; url=")
                    .append(link(names.get(0)))
                    .append("\">");
        }
        html.append("<h1>Holdfast</h1><ul>");
        for (String name : names) {
            html.append("<li><a href=\"")
                    .append(link(name))
                    .append("\">")
                    .append(escaped(name))
                    .append("</a></li>");
        }
        return response(200, "text/html", html.append("</ul></html>").toString().getBytes(StandardCharsets.UTF_8));
    }

    private String link(String client) {
        return path + "/" + URLEncoder.encode(client, StandardCharsets.UTF_8).replace("+", "%20") + "/page";
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
    }

    /**
     * A file of the page, a view as JSON, or a stream of events.
     *
     * @param view the view to add to a state
     * @param name the name of a lock
     * @param q text to find in names and labels
     * @param show which locks to list
     * @param sort the column to sort by
     * @param desc whether the largest comes first
     * @param offset how many entries to skip
     * @param limit the most entries to list
     * @param least the shortest wait to show, in seconds
     * @param segments the client, then the path of the file or view
     */
    @ReadOperation(
            produces = {
                "application/vnd.spring-boot.actuator.v3+json",
                "application/vnd.spring-boot.actuator.v2+json",
                "application/json",
                "text/event-stream"
            })
    public Object get(
            @Nullable String view,
            @Nullable String name,
            @Nullable String q,
            @Nullable String show,
            @Nullable String sort,
            @Nullable String desc,
            @Nullable String offset,
            @Nullable String limit,
            @Nullable String least,
            @Selector(match = Selector.Match.ALL_REMAINING) String... segments) {
        String file = String.join("/", Arrays.asList(segments).subList(1, segments.length));
        if (!clients.names().contains(segments[0])) {
            return response(unknown());
        }
        Optional<PageFile> page = PageFile.named(file.equals("page") ? "index.html" : file);
        if (page.isPresent()) {
            return response(200, page.get().contentType(), page.get().body());
        }
        Map<String, String> parameters = new TreeMap<>();
        put(parameters, "view", view);
        put(parameters, "name", name);
        put(parameters, "q", q);
        put(parameters, "show", show);
        put(parameters, "sort", sort);
        put(parameters, "desc", desc);
        put(parameters, "offset", offset);
        put(parameters, "limit", limit);
        put(parameters, "least", least);
        return file.equals("api/events") && events != null
                ? stream(events, segments[0], parameters)
                : response(console(segments[0]).get(file, parameters));
    }

    private Object stream(ConsoleEvents framework, String client, Map<String, String> parameters) {
        StateFeed feed = feeds.computeIfAbsent(client, name -> new StateFeed(console(name)));
        Object stream = closing ? null : framework.stream(feed, parameters);
        return stream != null
                ? stream
                : response(ConsoleAnswer.problem(503, "busy", "Busy", "Too many pages are open."));
    }

    private static void put(Map<String, String> parameters, String name, @Nullable String value) {
        if (value != null) {
            parameters.put(name, value);
        }
    }

    /**
     * Ends the hold with a token, in any process: a last resort, since the holder's code runs on.
     *
     * @param user who asks
     * @param name as the page shows it
     * @param token the fencing token that the page showed
     * @param segments the client, then the path of the action
     */
    @WriteOperation
    public WebEndpointResponse<byte[]> release(
            SecurityContext user,
            String name,
            String token,
            @Selector(match = Selector.Match.ALL_REMAINING) String... segments) {
        if (segments.length != 3
                || !clients.names().contains(segments[0])
                || !(segments[1] + "/" + segments[2]).equals("api/release")) {
            return response(unknown());
        }
        String who = user.getPrincipal() == null
                ? "an unknown user"
                : user.getPrincipal().getName();
        return response(console(segments[0]).release(who, Map.of("name", name, "token", token)));
    }

    private static ConsoleAnswer unknown() {
        return ConsoleAnswer.problem(404, "not-found", "Not found", "There is no such client or view.");
    }

    private LockConsole console(String client) {
        return consoles.computeIfAbsent(client, name -> {
            Holdfast holdfast = clients.get(name);
            LockConsole.Builder console = LockConsole.builder(() -> Optional.of(holdfast))
                    .store("client " + name, holdfast.state().store())
                    .prefix(holdfast.namePrefix())
                    .tasks(tasks)
                    .version(version())
                    .readOnly(readOnly)
                    .audit(line -> LOG.info(ResourceName.printable(line)));
            return events == null ? console.build() : console.streaming().build();
        });
    }

    private static String version() {
        String version = LockConsole.class.getPackage().getImplementationVersion();
        return version == null ? "" : version;
    }

    private static WebEndpointResponse<byte[]> response(ConsoleAnswer answer) {
        return response(answer.status(), answer.contentType(), answer.body());
    }

    private static WebEndpointResponse<byte[]> response(int status, String contentType, byte[] body) {
        return new WebEndpointResponse<>(body, status, MimeType.valueOf(contentType));
    }

    /** Ends all streams, before a web server waits for the end of its requests. */
    void endStreams() {
        closing = true;
        feeds.values().forEach(StateFeed::close);
    }

    /** Stops the polls of all consoles. */
    @Override
    public void close() {
        endStreams();
        consoles.values().forEach(LockConsole::close);
    }
}
