/** The part common to stores that keep one record per resource; for authors of such stores. */
module dev.holdfast.store.register {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires org.slf4j;

    exports dev.holdfast.store.register;
    exports dev.holdfast.store.register.client;
}
