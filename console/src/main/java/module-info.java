/** The console in the browser and in the terminal. */
module dev.holdfast.console {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    // Only for dev.holdfast.console.server.
    requires static jdk.httpserver;

    exports dev.holdfast.console;
    exports dev.holdfast.console.server;
}
