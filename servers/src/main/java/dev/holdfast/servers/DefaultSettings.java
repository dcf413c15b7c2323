package dev.holdfast.servers;

/**
 * Whether all servers run with the settings that they come with, by the system property {@code
 * holdfast.servers.default-settings}. Otherwise they don't flush, and are small, so that tests are fast.
 */
final class DefaultSettings {

    private static final boolean WANTED = Boolean.getBoolean("holdfast.servers.default-settings");

    private DefaultSettings() {}

    static boolean areWanted() {
        return WANTED;
    }
}
