package dev.holdfast.spring.boot;

import dev.holdfast.console.StateFeed;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Events of the console with Spring MVC. A write to a servlet's response blocks while its viewer reads slowly, until
 * the server's time-out, so a few threads write for all streams.
 */
final class ServletConsoleEvents implements ConsoleEvents, DisposableBean {

    private static final int SENDERS = 4;

    /** The queue is bounded by the number of streams: each has one event under way. */
    private final ThreadPoolExecutor senders =
            new ThreadPoolExecutor(SENDERS, SENDERS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                Thread thread = new Thread(task, "holdfast-console-sender");
                thread.setDaemon(true);
                return thread;
            });

    /** Called by Spring. */
    ServletConsoleEvents() {
        senders.allowCoreThreadTimeOut(true);
    }

    /**
     * A stream that proxies pass on at once. The feed ends it after five minutes; the container's time-out is for those
     * of which neither the feed nor the container noticed that their page has gone.
     */
    private static final class Unbuffered extends SseEmitter {
        Unbuffered() {
            super(360_000L);
        }

        @Override
        protected void extendResponse(ServerHttpResponse response) {
            super.extendResponse(response);
            // The converters of an application may have another default.
            response.getHeaders().set("Content-Type", "text/event-stream;charset=UTF-8");
            response.getHeaders().set("Cache-Control", "no-store");
            response.getHeaders().set("X-Accel-Buffering", "no");
        }
    }

    /** What is sent to one page: by the feed's thread to a sender, one event at a time. */
    private final class Page implements StateFeed.Page {
        private final StateFeed feed;
        private final SseEmitter emitter = new Unbuffered();
        private final AtomicBoolean isSending = new AtomicBoolean();
        private volatile boolean isEnding;

        Page(StateFeed feed) {
            this.feed = feed;
            emitter.onCompletion(() -> feed.remove(this));
        }

        @Override
        public boolean isReady() {
            return !isSending.get();
        }

        @Override
        public void event(String name, long number, String data) {
            send(SseEmitter.event()
                    .name(name)
                    .id(Long.toString(number))
                    .reconnectTime(5_000)
                    .data(data));
        }

        @Override
        public void comment() {
            send(SseEmitter.event().comment(""));
        }

        private void send(SseEmitter.SseEventBuilder event) {
            isSending.set(true);
            senders.execute(() -> {
                try {
                    emitter.send(event);
                } catch (IOException | IllegalStateException e) {
                    feed.remove(this); // the page has gone; the container ends its request
                } finally {
                    isSending.set(false);
                    if (isEnding && isSending.compareAndSet(false, true)) {
                        emitter.complete();
                    }
                }
            });
        }

        /** After the event under way: no second sender waits for it, or goes before it. */
        @Override
        public void end() {
            isEnding = true;
            if (isSending.compareAndSet(false, true)) {
                senders.execute(emitter::complete);
            }
        }
    }

    @Override
    public @Nullable Object stream(StateFeed feed, Map<String, String> parameters) {
        Page page = new Page(feed);
        return feed.add(parameters, page) ? page.emitter : null;
    }

    @Override
    public void destroy() {
        senders.shutdown();
    }
}
