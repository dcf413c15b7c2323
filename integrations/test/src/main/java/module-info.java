/** For tests of code that uses locks: a store in memory on virtual time, with faults on demand, and an extension. */
module dev.holdfast.test {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires static transitive org.junit.jupiter.api;
    requires transitive dev.holdfast;
    requires dev.holdfast.store.memory;
    requires org.slf4j;

    exports dev.holdfast.test;
}
