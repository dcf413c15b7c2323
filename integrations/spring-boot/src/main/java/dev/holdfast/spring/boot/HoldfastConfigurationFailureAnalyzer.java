package dev.holdfast.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports what is wrong with the configuration, and the remedy, instead of a stack trace. */
final class HoldfastConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<HoldfastConfigurationException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, HoldfastConfigurationException cause) {
        return new FailureAnalysis(cause.description(), cause.action(), cause);
    }
}
