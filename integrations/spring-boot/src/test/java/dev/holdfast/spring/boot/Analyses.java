package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.assertj.core.api.ListAssert;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** What people read when an application with Holdfast does not start. */
final class Analyses {

    private Analyses() {}

    /** The one analysis of a failure: what is wrong, then what to do. */
    static ListAssert<String> assertAnalysis(Throwable failure) {
        FailureAnalysis analysis = Stream.<AbstractFailureAnalyzer<?>>of(
                        new HoldfastConfigurationFailureAnalyzer(), new StoreFailureAnalyzer())
                .flatMap(analyzer -> Stream.ofNullable(analyzer.analyze(failure)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("Nobody analyzes this", failure));
        return assertThat(Stream.of(analysis.getDescription(), String.valueOf(analysis.getAction()))
                .toList());
    }
}
