package dev.holdfast.servers;

import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/** A provider of SLF4J that brings its loggers, and no context. */
abstract class LogProvider implements SLF4JServiceProvider {

    private final ILoggerFactory loggers;
    private final IMarkerFactory markers = new BasicMarkerFactory();
    private final MDCAdapter context = new NOPMDCAdapter();

    LogProvider(ILoggerFactory loggers) {
        this.loggers = loggers;
    }

    @Override
    public final ILoggerFactory getLoggerFactory() {
        return loggers;
    }

    @Override
    public final IMarkerFactory getMarkerFactory() {
        return markers;
    }

    @Override
    public final MDCAdapter getMDCAdapter() {
        return context;
    }

    @Override
    public final String getRequestedApiVersion() {
        return "2.0.99";
    }

    @Override
    public final void initialize() {}
}
