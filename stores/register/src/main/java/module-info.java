/** The part common to stores that keep one record per resource. Nothing here is for users. */
module dev.holdfast.store.register {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
}
