package dev.holdfast.cli.store;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The stores that are not part of the command, whose size and start don't pay for their libraries: jars in a directory
 * for each store, such as {@code stores/etcd} beside {@code holdfast.jar}. They are loaded when a URI names the store.
 */
public final class SeparateStores {

    /** The directory of each, by the schemes that it serves. */
    public static final Map<String, String> DIRECTORIES =
            Map.of("etcd", "etcd", "etcds", "etcd", "zookeeper", "zookeeper", "zookeepers", "zookeeper");

    private SeparateStores() {}

    /**
     * Sees to it that {@link StoreProvider#of} finds the store of a location, and those that it is made of, on this
     * thread and on those that it starts.
     *
     * @throws CliException if files of one are missing or damaged
     */
    static void provide(StoreLocation location) {
        Map<String, String> named = new TreeMap<>(DIRECTORIES);
        named.keySet().removeIf(scheme -> !location.involves(scheme));
        if (named.isEmpty()) {
            return;
        }
        List<Path> jars = new ArrayList<>();
        named.values().stream().distinct().forEach(store -> jars.addAll(jarsOf(store, location)));
        ClassLoader command = SeparateStores.class.getClassLoader();
        // It stays open for as long as the process lives.
        Thread.currentThread().setContextClassLoader(new URLClassLoader(Jars.urls(jars), new SharedClasses(command)));
        named.keySet().forEach(scheme -> requireProvider(scheme, location));
    }

    /** What it means that a class can't be loaded; empty where all classes are part of the command. */
    static Optional<CliException> damaged(StoreLocation location, Throwable damage) {
        return DIRECTORIES.entrySet().stream()
                .filter(entry -> location.involves(entry.getKey()))
                .findFirst()
                .map(entry -> unusable(
                        location,
                        "its files are incomplete or damaged (" + Printable.escape(damage.toString()) + ")",
                        entry.getValue(),
                        damage));
    }

    private static List<Path> jarsOf(String store, StoreLocation location) {
        List<Path> jars;
        try {
            jars = Jars.in(directoryOf(store));
        } catch (IOException e) {
            throw unusable(location, "its files can't be read (" + Printable.escape(e.toString()) + ")", store, e);
        }
        if (jars.isEmpty()) {
            throw unusable(location, "its files, which are not part of holdfast.jar, are missing", store, null);
        }
        return jars;
    }

    private static void requireProvider(String scheme, StoreLocation location) {
        try {
            StoreProvider unused = StoreProvider.of(StoreUri.parse(scheme + ":"));
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw unusable(location, "its files are incomplete or damaged", DIRECTORIES.getOrDefault(scheme, ""), e);
        }
    }

    private static CliException unusable(StoreLocation location, String why, String store, @Nullable Throwable cause) {
        return new CliException(
                ExitCode.STORE_UNUSABLE,
                "store " + location + " can't be used: " + why + ". Copy the directory 'stores/" + store
                        + "' of a build to "
                        + Printable.quote(directoryOf(store).toString()),
                cause);
    }

    /** Beside the file, or the directory, that this class was loaded from. */
    private static Path directoryOf(String store) {
        URL command = SeparateStores.class.getProtectionDomain().getCodeSource().getLocation();
        return Path.of(URI.create(command.toString())).resolveSibling("stores").resolve(store);
    }

    /**
     * What a separate store sees of the command: the classes of Holdfast, which both must share, and the logging
     * facade. Libraries of the command stay hidden, since a store may bring another version of them.
     */
    private static final class SharedClasses extends ClassLoader {

        private final ClassLoader command;

        private SharedClasses(ClassLoader command) {
            super(ClassLoader.getPlatformClassLoader());
            this.command = command;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (name.startsWith("dev.holdfast.") || name.startsWith("org.slf4j.")) {
                return command.loadClass(name);
            }
            throw new ClassNotFoundException(name);
        }

        /** The providers of the command's own stores, of which a quorum may be made as well. */
        @Override
        protected Enumeration<URL> findResources(String name) throws IOException {
            return name.startsWith("META-INF/services/dev.holdfast.")
                    ? command.getResources(name)
                    : Collections.emptyEnumeration();
        }
    }
}
