package dev.holdfast.store.redis.connection;

import dev.holdfast.spi.StoreException;
import io.lettuce.core.RedisClient;
import io.netty.util.Version;
import java.lang.module.ModuleDescriptor;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The versions of Lettuce and Netty in the program. */
public final class DriverVersion {

    private static final Pattern MAJOR_AND_MINOR = Pattern.compile("(\\d+)\\.(\\d+)\\b.*");

    // As major × 1000 + minor.
    private static final int OLDEST_LETTUCE = 6_004;
    private static final int FIRST_LETTUCE_OF_NEW_NETTY = 7_000;
    private static final int NEW_NETTY = 4_002;

    private static final String NEEDED =
            "Holdfast needs Lettuce 6.4 or newer with Netty 4.1 or 4.2, or Lettuce 7 with Netty 4.2";

    private DriverVersion() {}

    /**
     * Checks the versions in the program.
     *
     * @throws StoreException if they are known not to work
     */
    public static void require() {
        require(lettuce(), netty());
    }

    /** As above; an unreadable version is assumed to work. */
    public static void require(String lettuce, String netty) {
        int driver = number(lettuce);
        if (driver < OLDEST_LETTUCE || (driver >= FIRST_LETTUCE_OF_NEW_NETTY && number(netty) < NEW_NETTY)) {
            throw unfit(lettuce, netty, null);
        }
    }

    /** The failure if a class or method of the driver differs from the one this was compiled with. */
    public static StoreException unfit(LinkageError failure) {
        return unfit(lettuce(), netty(), failure);
    }

    private static StoreException unfit(String lettuce, String netty, @Nullable LinkageError failure) {
        return RedisFailures.denied(
                "this program uses Lettuce " + lettuce + " with Netty " + netty + ", but " + NEEDED
                        + (failure == null ? "" : " (" + failure + ")"),
                failure);
    }

    private static int number(String version) {
        Matcher matcher = MAJOR_AND_MINOR.matcher(version);
        return matcher.matches()
                ? Integer.parseInt(matcher.group(1)) * 1_000 + Integer.parseInt(matcher.group(2))
                : Integer.MAX_VALUE;
    }

    public static String lettuce() {
        return version(RedisClient.class, "Lettuce", "lettuce.core");
    }

    /** By one of its jars: reading the versions of all takes a tenth of the time of opening. */
    public static String netty() {
        return version(Version.class, "Netty/Common", "io.netty.common");
    }

    /**
     * From the module, or from the jar's manifest on the class path. If a library was merged into a program's jar or
     * module, that has another title, and its version is the program's.
     */
    private static String version(Class<?> type, String title, String module) {
        ModuleDescriptor descriptor = type.getModule().getDescriptor();
        Package itsPackage = type.getPackage();
        String version = null;
        if (descriptor != null && descriptor.name().equals(module)) {
            version = descriptor.rawVersion().orElse(null);
        } else if (descriptor == null && title.equals(itsPackage.getImplementationTitle())) {
            version = itsPackage.getImplementationVersion();
        }
        return version == null ? "of an unknown version" : version.replaceFirst("/.*", "");
    }
}
