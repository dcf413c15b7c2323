package dev.holdfast.store.redis.connection;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import io.lettuce.core.RedisClient;
import io.netty.util.Version;
import java.lang.module.ModuleDescriptor;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The versions of the driver, and of what it stands on, that a program brings along. */
public final class DriverVersion {

    private static final Pattern MAJOR_AND_MINOR = Pattern.compile("(\\d+)\\.(\\d+)\\b.*");

    // As major × 1000 + minor.
    private static final int OLDEST_LETTUCE = 6_004;
    private static final int FIRST_LETTUCE_OF_NEW_NETTY = 7_000;
    private static final int NEW_NETTY = 4_002;

    private static final String NEEDED =
            "locks need Lettuce 6.4 or newer, with Netty 4.1 or 4.2, and from Lettuce 7 on with Netty 4.2";

    private DriverVersion() {}

    /**
     * Looks at the versions that are there.
     *
     * @throws StoreException if they are known not to work
     */
    public static void require() {
        require(lettuce(), netty());
    }

    /** As above; a version that can't be read is taken as one that works. */
    public static void require(String lettuce, String netty) {
        int driver = number(lettuce);
        if (driver < OLDEST_LETTUCE || (driver >= FIRST_LETTUCE_OF_NEW_NETTY && number(netty) < NEW_NETTY)) {
            throw unfit(lettuce, netty, null);
        }
    }

    /** A class or a method of the driver is not what it was when this was compiled. */
    public static StoreException unfit(LinkageError failure) {
        return unfit(lettuce(), netty(), failure);
    }

    private static StoreException unfit(String lettuce, String netty, @Nullable LinkageError failure) {
        return new StoreException(
                Reason.DENIED,
                Effect.NONE,
                "the driver of this program is Lettuce " + lettuce + " with Netty " + netty + ", but " + NEEDED
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

    /** By one of its jars: to read what each of them says of itself takes a tenth of the time to open. */
    public static String netty() {
        return version(Version.class, "Netty/Common", "io.netty.common");
    }

    /**
     * A module knows its version, and a package on the class path that of its jar. Where a library was merged into a
     * program's own jar or module, that is another title, and its version the program's.
     */
    private static String version(Class<?> of, String title, String module) {
        ModuleDescriptor descriptor = of.getModule().getDescriptor();
        Package itsPackage = of.getPackage();
        String version = null;
        if (descriptor != null && descriptor.name().equals(module)) {
            version = descriptor.rawVersion().orElse(null);
        } else if (descriptor == null && title.equals(itsPackage.getImplementationTitle())) {
            version = itsPackage.getImplementationVersion();
        }
        return version == null ? "of an unknown version" : version.replaceFirst("/.*", "");
    }
}
