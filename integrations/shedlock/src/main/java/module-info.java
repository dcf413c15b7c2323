/** A lock provider of ShedLock on Holdfast. */
module dev.holdfast.shedlock {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires transitive net.javacrumbs.shedlock.core;

    exports dev.holdfast.shedlock;
}
