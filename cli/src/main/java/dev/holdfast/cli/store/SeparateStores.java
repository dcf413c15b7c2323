package dev.holdfast.cli.store;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.spi.KnownStores;
import dev.holdfast.spi.KnownStores.KnownStore;
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
 * The stores that are not part of the command, so that its size and start don't pay for their libraries: jars in a
 * directory for each store, such as {@code stores/etcd} beside {@code holdfast.jar}. They are loaded when a URI names
 * the store.
 */
public final class SeparateStores {

    private SeparateStores() {}

    /** The schemes of these stores, each with the directory of its store. */
    public static Map<String, String> directories() {
        ClassLoader command = SeparateStores.class.getClassLoader();
        Map<String, String> directories = new TreeMap<>();
        for (KnownStore store : KnownStores.ALL) {
            if (command.getResource(store.provider().replace('.', '/') + ".class") == null) {
                String artifact = store.description().artifact();
                String directory = artifact.substring(artifact.indexOf('-') + 1);
                store.description().schemeNames().forEach(scheme -> directories.put(scheme, directory));
            }
        }
        return directories;
    }

    /**
     * Lets {@link StoreProvider#of} find the store of a location, and those that it is made of, on this thread and on
     * those that it starts.
     *
     * @throws CliException if files of one are missing or damaged
     */
    static void provide(StoreLocation location) {
        Map<String, String> named = named(location);
        if (named.isEmpty()) {
            return;
        }
        List<Path> jars = new ArrayList<>();
        named.values().stream().distinct().forEach(store -> jars.addAll(jarsOf(store, location)));
        ClassLoader command = SeparateStores.class.getClassLoader();
        // It stays open as long as the process lives.
        Thread.currentThread().setContextClassLoader(new URLClassLoader(Jars.urls(jars), new SharedClasses(command)));
        named.forEach((scheme, store) -> requireProvider(scheme, store, location));
    }

    private static Map<String, String> named(StoreLocation location) {
        Map<String, String> named = directories();
        named.keySet().removeIf(scheme -> !location.involves(scheme));
        return named;
    }

    /** The error for a class that can't be loaded; empty if all classes of the location are part of the command. */
    static Optional<CliException> damaged(StoreLocation location, Throwable damage) {
        return named(location).values().stream()
                .findFirst()
                .map(store -> unusable(
                        location,
                        "its files are incomplete or damaged (" + Printable.escape(damage.toString()) + ")",
                        store,
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
            throw unusable(location, "its files, which holdfast.jar does not contain, are missing", store, null);
        }
        return jars;
    }

    private static void requireProvider(String scheme, String store, StoreLocation location) {
        try {
            StoreProvider unused = StoreProvider.of(StoreUri.parse(scheme + ":"));
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw unusable(location, "its files are incomplete or damaged", store, e);
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

    /** Next to the jar or directory that contains the command, or next to the runtime that does. */
    private static Path directoryOf(String store) {
        URI command = URI.create(SeparateStores.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toString());
        Path file = command.getScheme().equals("jrt") ? Path.of(System.getProperty("java.home")) : Path.of(command);
        return file.resolveSibling("stores").resolve(store);
    }

    /**
     * Shows a separate store only the command's classes of Holdfast, which both must share, and the logging facade. The
     * command's libraries stay hidden, since a store may bring other versions of them.
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

        /** The providers of the command's own stores, which can be members of the same quorum. */
        @Override
        protected Enumeration<URL> findResources(String name) throws IOException {
            return name.startsWith("META-INF/services/dev.holdfast.")
                    ? command.getResources(name)
                    : Collections.emptyEnumeration();
        }
    }
}
