package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@DisplayName("The audit of the console in an application")
@ExtendWith(OutputCaptureExtension.class)
class ConsoleAuditTest {

    @Test
    @DisplayName("is one line for each release, whatever the name of the lock")
    void nameWithLineBreak(CapturedOutput output) {
        new ApplicationContextRunner()
                .withPropertyValues("holdfast.store=memory:")
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .run(context -> {
                    ConfigurableListableBeanFactory beans =
                            context.getSourceApplicationContext().getBeanFactory();
                    try (HoldfastConsoleEndpoint endpoint = new HoldfastConsoleEndpoint(
                            new HoldfastClients(beans), () -> false, "console", Set.of(), null)) {
                        assertThat(endpoint.release(
                                                SecurityContext.NONE, "a\nroot: b", "5", "holdfast", "api", "release")
                                        .getStatus())
                                .isEqualTo(409);
                    }
                    assertThat(output)
                            .contains("forced release of a<U+000A>root: b, token 5")
                            .doesNotContain("\nroot: b");
                });
    }
}
