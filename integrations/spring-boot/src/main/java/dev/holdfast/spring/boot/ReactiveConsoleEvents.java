package dev.holdfast.spring.boot;

import dev.holdfast.console.StateFeed;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.util.MimeTypeUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/** Events of the console with WebFlux. */
final class ReactiveConsoleEvents implements ConsoleEvents {

    /** What is sent to one page. */
    private record Page(FluxSink<ServerSentEvent<String>> sink) implements StateFeed.Page {

        @Override
        public boolean isReady() {
            return sink.requestedFromDownstream() > 0;
        }

        @Override
        public void event(String name, long number, String data) {
            sink.next(ServerSentEvent.builder(data)
                    .event(name)
                    .id(Long.toString(number))
                    .retry(Duration.ofSeconds(5))
                    .build());
        }

        @Override
        public void comment() {
            sink.next(ServerSentEvent.<String>builder().comment("").build());
        }

        @Override
        public void end() {
            sink.complete();
        }
    }

    @Override
    public @Nullable Object stream(StateFeed feed, Map<String, String> parameters) {
        Flux<ServerSentEvent<String>> events = Flux.create(sink -> {
            Page page = new Page(sink);
            sink.onDispose(() -> feed.remove(page));
            if (!feed.add(parameters, page)) {
                sink.complete(); // its page asks again
            } else if (sink.isCancelled()) {
                feed.remove(page); // it went before it was added
            }
        });
        return new WebEndpointResponse<>(
                events, WebEndpointResponse.STATUS_OK, MimeTypeUtils.parseMimeType("text/event-stream"));
    }
}
