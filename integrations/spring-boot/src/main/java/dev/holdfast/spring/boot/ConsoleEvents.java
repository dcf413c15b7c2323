package dev.holdfast.spring.boot;

import dev.holdfast.console.StateFeed;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Server-sent events of the console, as the web framework of the application sends them. Thread-safe. */
interface ConsoleEvents {

    /**
     * A stream of the state for one page.
     *
     * @param parameters those of the request
     * @return what the operation of an endpoint returns; null if there are too many streams
     */
    @Nullable
    Object stream(StateFeed feed, Map<String, String> parameters);
}
