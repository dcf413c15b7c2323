/** Locks that hold across processes and machines: the API, and the SPI for the authors of stores. */
module dev.holdfast {
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;
    requires org.slf4j;

    // exports dev.holdfast; (with its first type: an empty package cannot be exported)
    // exports dev.holdfast.spi; (with its first type: an empty package cannot be exported)
}
