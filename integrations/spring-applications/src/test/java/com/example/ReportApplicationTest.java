package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

@Timeout(180)
@DisplayName("The application of the page on getting started")
class ReportApplicationTest {

    @Test
    @DisplayName("starts, and runs its methods under locks")
    void runs() {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(ReportApplication.class)
                .web(WebApplicationType.NONE)
                .run("--holdfast.store=memory:")) {
            ReportApplication.Reports reports = context.getBean(ReportApplication.Reports.class);
            reports.writeAll();
            assertThat(reports.write("7")).isLessThan(reports.write("7"));
        }
    }
}
