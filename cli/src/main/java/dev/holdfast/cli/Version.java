package dev.holdfast.cli;

/** The version of Holdfast. */
final class Version {

    private Version() {}

    /** From the jar's manifest; a build without a jar has no version. */
    static String read() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "(not packed)" : version;
    }
}
