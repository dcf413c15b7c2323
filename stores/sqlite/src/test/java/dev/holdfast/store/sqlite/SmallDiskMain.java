package dev.holdfast.store.sqlite;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.Loss;
import dev.holdfast.servers.sql.GoodHold;
import dev.holdfast.servers.sql.TestClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A client whose file is on a disk that it can fill; executes commands from a test and answers each line with one. */
final class SmallDiskMain {

    private final Path filler;
    private final Holdfast holdfast;
    private final TestClient client;
    private final CompletableFuture<Loss> loss = new CompletableFuture<>();
    private Hold hold;
    private long token;

    private SmallDiskMain(Path file) {
        this.filler = file.resolveSibling("filler");
        this.holdfast = Holdfast.builder("sqlite:" + file)
                .sessionTtl(Duration.ofSeconds(2))
                .build();
        this.client = new TestClient(SqliteStore.open(file));
    }

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        SmallDiskMain child = new SmallDiskMain(Path.of(args[0]));
        System.out.println("ready");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String answer;
            try {
                answer = child.answer(line);
            } catch (HoldfastException e) {
                answer = e.getClass().getSimpleName() + " " + e.getMessage();
            }
            System.out.println(answer.replace('\n', ' '));
        }
    }

    private String answer(String command) throws Exception {
        return switch (command) {
            case "fill under a hold" -> fillUnderAHold();
            case "acquire" -> {
                holdfast.lock("other").acquire().close();
                yield "acquired";
            }
            case "acquire new" -> {
                holdfast.lock("y".repeat(400)).acquire().close();
                yield "acquired";
            }
            case "acquire many" -> acquireMany();
            case "renewed" -> renewed();
            case "keepAlive" -> {
                for (int i = 0; i < 3_000; i++) {
                    client.keepAlive();
                }
                yield "alive";
            }
            case "close" -> {
                hold.close();
                yield "closed";
            }
            case "empty" -> {
                Files.delete(filler);
                yield "room";
            }
            case "again" -> {
                Hold next = holdfast.lock("ledger").acquire();
                yield next.fencingToken() > token ? "held with a greater token" : "held with a smaller token";
            }
            default -> "unknown";
        };
    }

    /** Acquires locks until the database would have to grow. */
    private String acquireMany() throws Exception {
        for (int i = 0; i < 10_000; i++) {
            holdfast.lock("x".repeat(400) + i).acquire().close();
        }
        return "bottomless";
    }

    /** Waits until the lease would have expired without extensions. */
    private String renewed() throws Exception {
        int renewals = 0;
        Duration before = hold.remaining();
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (renewals < 5 && hold.isHeld() && System.nanoTime() < deadline) {
            Duration now = hold.remaining();
            renewals += now.compareTo(before) > 0 ? 1 : 0;
            before = now;
            Thread.onSpinWait();
        }
        return hold.isHeld() ? "held after " + renewals + " renewals" : "lost: " + loss.get(60, TimeUnit.SECONDS);
    }

    /** Retries until a hold is still valid when the disk is full, because this process may be paused in between. */
    private String fillUnderAHold() throws Exception {
        while (true) {
            GoodHold good = GoodHold.acquired(holdfast, "ledger");
            String filled = fill();
            hold = good.hold();
            token = good.token();
            if (hold.isHeld()) {
                hold.onLost(loss::complete);
                return filled;
            }
            Files.delete(filler);
            GoodHold.end(hold);
        }
    }

    private String fill() throws IOException {
        byte[] page = new byte[512];
        try (OutputStream out = Files.newOutputStream(filler)) {
            for (int i = 0; i < 100_000; i++) {
                out.write(page);
            }
            return "bottomless";
        } catch (IOException full) {
            return "full";
        }
    }
}
