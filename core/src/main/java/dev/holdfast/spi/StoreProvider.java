package dev.holdfast.spi;

import dev.holdfast.spi.StoreDescription.Scheme;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;

/**
 * Opens stores by URI; found by {@link java.util.ServiceLoader}. Providers have a public constructor without
 * arguments and no state.
 */
public interface StoreProvider {

    /** The URI schemes that this provider serves, in lower case. */
    Set<String> schemes();

    /**
     * What tools and frameworks need to know about this store without opening it. By default the entry of this class in
     * {@link KnownStores}, or nothing but its schemes. Loads no class of the store's driver.
     */
    default StoreDescription description() {
        // Without lambdas, which a short command would pay for.
        for (KnownStores.KnownStore store : KnownStores.ALL) {
            if (store.provider().equals(getClass().getName())) {
                return store.description();
            }
        }
        return new StoreDescription(
                "", schemes().stream().sorted().map(Scheme::of).toList(), Optional.empty());
    }

    /**
     * Opens a store.
     *
     * <p><b>Blocking:</b> may do I/O for as long as the connect time-out of the store.
     *
     * @throws IllegalArgumentException if the URI is not of the store's form, or has a parameter that the store
     *     does not know; nothing was changed
     * @throws StoreException if the store can't be used: not reachable, wrong credentials, not writable,
     *     something else in its place
     */
    LockStore open(StoreUri uri);

    /**
     * The provider for a URI, first among those of Holdfast's class loader, then among those of the thread's context
     * class loader. The first alone would miss what a container or a tool loads separately. The second alone would find
     * nothing for an application in one jar on a thread of the common pool, whose context class loader is that of the
     * system. For tools that use a store without a client; programs connect with {@link dev.holdfast.Holdfast}.
     *
     * @throws IllegalArgumentException if none serves its scheme
     * @throws IllegalStateException if one of them can't be loaded
     */
    static StoreProvider of(StoreUri uri) {
        Set<String> known = new TreeSet<>();
        List<StoreDescription> descriptions = new ArrayList<>();
        List<ClassLoader> loaders = new ArrayList<>();
        loaders.add(StoreProvider.class.getClassLoader());
        loaders.add(Thread.currentThread().getContextClassLoader());
        try {
            for (ClassLoader loader : loaders) {
                for (StoreProvider provider : ServiceLoader.load(StoreProvider.class, loader)) {
                    if (provider.schemes().contains(uri.scheme())) {
                        return provider;
                    }
                    known.addAll(provider.schemes());
                    descriptions.add(provider.description());
                }
            }
        } catch (ServiceConfigurationError e) {
            throw new IllegalStateException("A store module on the class path can't be loaded: " + e.getMessage(), e);
        }
        KnownStores.ALL.forEach(store -> descriptions.add(store.description()));
        throw new IllegalArgumentException("No store on the class path supports '" + uri + "'; known schemes are "
                + known + ". " + StoreDescription.hint(uri.scheme(), known, descriptions));
    }
}
