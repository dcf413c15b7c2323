package dev.holdfast.verification.architecture;

import static java.util.stream.Collectors.toSet;

import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaConstructor;
import java.io.FileReader;
import java.io.FileWriter;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CharsetEncoder;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Date;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Scanner;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TimeZone;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * What a program takes from the machine without being given it: the time, chance, sleep, and the machine's language and
 * encoding. The core and the stores are given these, so that a simulation can give them others, and so that a result
 * does not depend on where it was computed.
 */
final class Ambient {

    /** The classes that take these things on behalf of all others: the client's, and those of the stores. */
    static final Set<String> DOORS = Set.of(
            "dev.holdfast.engine.execution.SystemEnvironment",
            "dev.holdfast.engine.SystemTime",
            "dev.holdfast.store.memory.SteadyClock",
            "dev.holdfast.store.redis.connection.SystemTicks",
            "dev.holdfast.spi.support.SystemTime",
            "dev.holdfast.store.quorum.member.LateMember",
            "dev.holdfast.store.ledger.runtime.SystemClock");

    private static final String NEW = JavaConstructor.CONSTRUCTOR_NAME;

    /** Taken however it is called. */
    private static final Map<Class<?>, Set<String>> ALWAYS = Map.ofEntries(
            Map.entry(System.class, Set.of("currentTimeMillis", "nanoTime")),
            Map.entry(Thread.class, Set.of("sleep")),
            Map.entry(TimeUnit.class, Set.of("sleep")),
            Map.entry(Clock.class, Set.of("system", "systemUTC", "systemDefaultZone")),
            Map.entry(ZoneId.class, Set.of("systemDefault")),
            Map.entry(TimeZone.class, Set.of("getDefault")),
            Map.entry(Locale.class, Set.of("getDefault")),
            Map.entry(Charset.class, Set.of("defaultCharset")),
            Map.entry(Math.class, Set.of("random")),
            Map.entry(ThreadLocalRandom.class, Set.of("current")),
            Map.entry(UUID.class, Set.of("randomUUID")));

    /** Taken when called with nothing: {@code Instant.now()}, but not {@code Instant.now(clock)}. */
    private static final Map<Class<?>, Set<String>> WITHOUT_ARGUMENTS = Map.ofEntries(
            Map.entry(Instant.class, Set.of("now")),
            Map.entry(LocalDate.class, Set.of("now")),
            Map.entry(LocalTime.class, Set.of("now")),
            Map.entry(LocalDateTime.class, Set.of("now")),
            Map.entry(OffsetDateTime.class, Set.of("now")),
            Map.entry(ZonedDateTime.class, Set.of("now")),
            Map.entry(Date.class, Set.of(NEW)),
            Map.entry(Random.class, Set.of(NEW)),
            Map.entry(SplittableRandom.class, Set.of(NEW)));

    /** Taken when called without a locale. */
    private static final Map<Class<?>, Set<String>> WITHOUT_LOCALE =
            Map.of(String.class, Set.of("toLowerCase", "toUpperCase", "format", "formatted"));

    /** Taken when called without an encoding, and without a reader or writer that has one. */
    private static final Map<Class<?>, Set<String>> WITHOUT_ENCODING = Map.of(
            FileReader.class, Set.of(NEW),
            FileWriter.class, Set.of(NEW),
            InputStreamReader.class, Set.of(NEW),
            OutputStreamWriter.class, Set.of(NEW),
            PrintStream.class, Set.of(NEW),
            Scanner.class, Set.of(NEW));

    private static final Set<String> ENCODINGS =
            names(Charset.class, CharsetDecoder.class, CharsetEncoder.class, Reader.class, Writer.class);

    private Ambient() {}

    /** Whether this access, a call or a method reference, takes something from the machine. */
    static boolean isTakenBy(JavaAccess<?> access) {
        return access.getTarget() instanceof CodeUnitAccessTarget target && isTakenBy(target);
    }

    private static boolean isTakenBy(CodeUnitAccessTarget target) {
        Set<String> parameters =
                target.getRawParameterTypes().stream().map(JavaClass::getName).collect(toSet());
        return isIn(ALWAYS, target)
                || isIn(WITHOUT_ARGUMENTS, target) && parameters.isEmpty()
                || isIn(WITHOUT_LOCALE, target) && !parameters.contains(Locale.class.getName())
                || isIn(WITHOUT_ENCODING, target) && !namesEncoding(parameters)
                || isStringOfBytes(target, parameters) && !namesEncoding(parameters);
    }

    private static boolean isIn(Map<Class<?>, Set<String>> table, AccessTarget target) {
        return table.entrySet().stream()
                .anyMatch(entry -> target.getOwner().isEquivalentTo(entry.getKey())
                        && entry.getValue().contains(target.getName()));
    }

    private static boolean isStringOfBytes(AccessTarget target, Set<String> parameters) {
        return target.getOwner().isEquivalentTo(String.class)
                && (target.getName().equals("getBytes")
                        || target.getName().equals(NEW) && parameters.contains(byte[].class.getName()));
    }

    private static boolean namesEncoding(Set<String> parameters) {
        return parameters.stream().anyMatch(ENCODINGS::contains);
    }

    private static Set<String> names(Class<?>... types) {
        return Set.of(types).stream().map(Class::getName).collect(toSet());
    }
}
