package dev.holdfast.cli;

import java.lang.module.ModuleDescriptor;

/** The version of Holdfast. */
final class Version {

    private static final String NOT_PACKED = "(not packed)";

    private Version() {}

    /** The version in the jar's manifest or, in a runtime that contains the command, that of its module. */
    static String read() {
        String packed = Version.class.getPackage().getImplementationVersion();
        if (packed != null) {
            return packed;
        }
        ModuleDescriptor module = Version.class.getModule().getDescriptor();
        return module == null ? NOT_PACKED : module.rawVersion().orElse(NOT_PACKED);
    }
}
