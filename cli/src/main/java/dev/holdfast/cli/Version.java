package dev.holdfast.cli;

/** Which Holdfast this is. */
final class Version {

    private Version() {}

    /** What the jar's manifest says; a build that was not packed has no version. */
    static String read() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "(not packed)" : version;
    }
}
