package dev.holdfast.store.memory.badfixture;

import dev.holdfast.cli.Main;
import dev.holdfast.engine.Engine;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/** Breaks every rule of a store, to show that they can fail. */
public final class StoreThatBreaksRules {

    /** Sideways, to a tool. */
    public final Class<?> sideways = Main.class;

    /** Into the engine. */
    public final Class<?> engine = Engine.class;

    /** One line for each thing that is taken from the machine. */
    public List<Object> take(byte[] bytes) throws Exception {
        Thread.sleep(0);
        LongSupplier byReference = System::nanoTime;
        return List.of(
                byReference,
                System.currentTimeMillis(),
                Instant.now(),
                LocalDateTime.now(),
                new Date(),
                ZoneId.systemDefault(),
                Locale.getDefault(),
                Charset.defaultCharset(),
                Math.random(),
                new Random(),
                ThreadLocalRandom.current(),
                UUID.randomUUID(),
                "I".toLowerCase(),
                String.format("%d", 1),
                "x".getBytes(),
                new String(bytes),
                new InputStreamReader(new ByteArrayInputStream(bytes)));
    }

    /** The same things, given or named: no rule minds. */
    public List<Object> given(byte[] bytes, Clock clock) {
        return List.of(
                Instant.now(clock),
                LocalDateTime.now(clock),
                new Date(1),
                ZoneOffset.UTC,
                new Random(1),
                "I".toLowerCase(Locale.ROOT),
                String.format(Locale.ROOT, "%d", 1),
                "x".getBytes(StandardCharsets.UTF_8),
                new String(bytes, StandardCharsets.UTF_8),
                new InputStreamReader(new ByteArrayInputStream(bytes), StandardCharsets.UTF_8));
    }
}
