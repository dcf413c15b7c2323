package dev.holdfast.spi;

import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * What tools and frameworks need to know about a store without opening it: the command line to suggest a URI, Spring
 * Boot to name the artifact that an application lacks and to find servers in containers. Immutable.
 *
 * <pre>{@code
 * StoreDescription.of(
 *                 "dev.holdfast:holdfast-zookeeper",
 *                 Scheme.of("zookeeper").port(2181).otherNames("zk").images("zookeeper", "bitnami/zookeeper"),
 *                 Scheme.of("zookeepers"))
 *         .connectionType("org.apache.curator.framework.CuratorFramework")
 * }</pre>
 *
 * @param artifact the store's module, as {@code group:artifact}; empty if it is not known
 * @param schemes the schemes of its URIs, the usual ones first
 * @param connectionType the name of the class of connections on which a program can open the store instead of by URI;
 *     the class need not be on the class path
 */
public record StoreDescription(String artifact, List<Scheme> schemes, Optional<String> connectionType) {

    public StoreDescription {
        schemes = List.copyOf(schemes);
    }

    /** A store that is opened only by URI. */
    public static StoreDescription of(String artifact, Scheme... schemes) {
        return new StoreDescription(artifact, List.of(schemes), Optional.empty());
    }

    /** This store, which can also be opened on connections of a type. */
    public StoreDescription connectionType(String className) {
        return new StoreDescription(artifact, schemes, Optional.of(className));
    }

    /** The names of the schemes, in their order: what {@link StoreProvider#schemes()} returns. */
    public Set<String> schemeNames() {
        Set<String> names = new LinkedHashSet<>();
        for (Scheme scheme : schemes) {
            names.add(scheme.name);
        }
        return Collections.unmodifiableSet(names);
    }

    /** What to do about a scheme that no provider serves. */
    static String hint(String scheme, Set<String> served, List<StoreDescription> descriptions) {
        if (scheme.equals("jdbc")) {
            return "Leave out 'jdbc:'.";
        }
        for (StoreDescription description : descriptions) {
            for (Scheme each : description.schemes) {
                if (each.name.equals(scheme)) {
                    return "Add the store's module, " + description.artifact + ", to the class path.";
                } else if (each.otherNames.contains(scheme)) {
                    return "Did you mean '" + each.name + ":'?";
                }
            }
        }
        return served.stream()
                .filter(each -> each.startsWith(scheme) || scheme.startsWith(each))
                .min(Comparator.naturalOrder())
                .map(each -> "Did you mean '" + each + ":'?")
                .orElse("Add the store's module, or correct the scheme.");
    }

    /**
     * A scheme of a store's URIs.
     *
     * @param name the scheme, in lower case
     * @param port the port at which servers usually listen; empty if the store has no server, or another scheme is the
     *     usual one for that port
     * @param otherNames what people write instead of the scheme
     * @param images names of container images that run such a server on this port, without registry and tag. The
     *     environment variable {@code NAME_ROOT_PASSWORD} of such a container, with the scheme in upper case, is the
     *     password of its user {@code root}.
     */
    public record Scheme(String name, OptionalInt port, List<String> otherNames, List<String> images) {

        public Scheme {
            otherNames = List.copyOf(otherNames);
            images = List.copyOf(images);
        }

        /** A scheme without a server. */
        public static Scheme of(String name) {
            return new Scheme(name, OptionalInt.empty(), List.of(), List.of());
        }

        /** This scheme, for servers that usually listen at a port. */
        public Scheme port(int usual) {
            return new Scheme(name, OptionalInt.of(usual), otherNames, images);
        }

        /** This scheme, which people also call by other names. */
        public Scheme otherNames(String... others) {
            return new Scheme(name, port, Arrays.asList(others), images);
        }

        /** This scheme, whose servers run in containers with these images. */
        public Scheme images(String... names) {
            return new Scheme(name, port, otherNames, Arrays.asList(names));
        }
    }
}
