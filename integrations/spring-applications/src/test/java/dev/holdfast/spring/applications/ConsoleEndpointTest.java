package dev.holdfast.spring.applications;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.security.config.Customizer.withDefaults;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

@Timeout(180)
@DisplayName("The console of an application")
class ConsoleEndpointTest {

    private static final String CONSOLE = "/actuator/holdfastconsole";
    private static final String CLIENT = CONSOLE + "/holdfast";

    @Configuration(proxyBeanMethods = false)
    static class Guide {

        @Bean
        SecurityFilterChain locks(HttpSecurity http) {
            return http.securityMatcher(EndpointRequest.to("holdfast", "holdfastconsole"))
                    .authorizeHttpRequests(requests -> requests.requestMatchers(HttpMethod.DELETE)
                            .hasRole("LOCK_ADMIN")
                            .requestMatchers(HttpMethod.POST)
                            .hasRole("LOCK_ADMIN")
                            .anyRequest()
                            .hasRole("LOCK_VIEWER"))
                    .httpBasic(withDefaults())
                    .csrf(csrf -> csrf.disable())
                    .build();
        }
    }

    private static SpringApplicationBuilder application() {
        return Applications.secured(WebApplicationType.SERVLET, EndpointSecurityTest.Users.class, Guide.class)
                .properties(
                        "holdfast.store=memory:",
                        "holdfast.name-prefix=app:",
                        "management.endpoints.web.exposure.include=holdfastconsole");
    }

    private static HttpResponse<String> send(
            ApplicationContext context, String method, String path, String user, String body) throws Exception {
        HttpRequest.Builder request =
                Applications.request(context, path).method(method, HttpRequest.BodyPublishers.ofString(body));
        request.header("Content-Type", "application/json");
        request.header("Accept", "text/html,application/xhtml+xml,*/*;q=0.8");
        if (!user.isEmpty()) {
            byte[] credentials = (user + ":secret").getBytes(StandardCharsets.UTF_8);
            request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(credentials));
        }
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpResponse<String> get(ApplicationContext context, String path) throws Exception {
        return send(context, "GET", path, "viewer", "");
    }

    private static String release(Hold hold) {
        return "{\"name\":\"a\",\"token\":\"" + hold.fencingToken() + "\"}";
    }

    @Test
    @DisplayName("is the page, with its files and views, for those who may see locks")
    void page() throws Exception {
        try (ConfigurableApplicationContext context = application().run()) {
            for (String path : new String[] {CONSOLE, CLIENT + "/page", CLIENT + "/api/state"}) {
                assertThat(send(context, "GET", path, "", "").statusCode())
                        .as(path)
                        .isEqualTo(401);
            }
            assertThat(get(context, CONSOLE).body()).contains("url=holdfastconsole/holdfast/page");
            HttpResponse<String> page = get(context, CLIENT + "/page");
            assertThat(page.body()).contains("<title>Holdfast</title>", "Content-Security-Policy");
            assertThat(page.headers().firstValue("Content-Type"))
                    .hasValueSatisfying(type -> assertThat(type).startsWith("text/html"));
            assertThat(get(context, CLIENT + "/console.js").headers().firstValue("Content-Type"))
                    .hasValueSatisfying(type -> assertThat(type).startsWith("text/javascript"));
            assertThat(get(context, CLIENT + "/lit/directives/repeat.js").statusCode())
                    .isEqualTo(200);
            try (Hold hold = context.getBean(Holdfast.class).lock("a").acquire()) {
                assertThat(get(context, CLIENT + "/api/state?view=lock&name=a").body())
                        .contains("\"name\":\"a\"", "\"token\":\"" + hold.fencingToken() + "\"", "\"readOnly\":true")
                        .doesNotContain("app:");
            }
            assertThat(get(context, CLIENT + "/api/locks?limit=0").statusCode()).isEqualTo(400);
            assertThat(get(context, CONSOLE + "/other/page").statusCode()).isEqualTo(404);
            assertThat(get(context, CLIENT + "/nothing").statusCode()).isEqualTo(404);
        }
    }

    @Test
    @DisplayName("releases nothing while the access of the endpoint for locks is read-only, whoever asks")
    void readOnly() throws Exception {
        try (ConfigurableApplicationContext context = application().run();
                Hold hold = context.getBean(Holdfast.class).lock("a").acquire()) {
            assertThat(send(context, "POST", CLIENT + "/api/release", "admin", release(hold))
                            .statusCode())
                    .isEqualTo(403);
            assertThat(hold.isHeld()).isTrue();
        }
    }

    @Test
    @DisplayName("releases a lock for those who may, if the access of that endpoint is unrestricted")
    void unrestricted() throws Exception {
        try (ConfigurableApplicationContext context = application()
                .properties("management.endpoint.holdfast.access=unrestricted")
                .run()) {
            Hold hold = context.getBean(Holdfast.class).lock("a").acquire();
            String body = release(hold);
            assertThat(send(context, "POST", CLIENT + "/api/release", "viewer", body)
                            .statusCode())
                    .isEqualTo(403);
            assertThat(hold.isHeld()).isTrue();
            assertThat(send(context, "POST", CLIENT + "/api/release", "admin", body)
                            .body())
                    .isEqualTo("{\"released\":true}");
            assertThat(hold.isHeld()).isFalse();
            assertThat(send(context, "POST", CLIENT + "/api/release", "admin", body)
                            .statusCode())
                    .isEqualTo(409);
            assertThat(send(context, "POST", CLIENT + "/api/other", "admin", body)
                            .statusCode())
                    .isEqualTo(404);
        }
    }

    @Test
    @DisplayName("is not there unless it is exposed, and follows a path that is mapped")
    void exposure() throws Exception {
        try (ConfigurableApplicationContext context = application()
                .properties("management.endpoints.web.exposure.include=holdfast")
                .run()) {
            assertThat(get(context, CLIENT + "/page").statusCode()).isNotEqualTo(200);
        }
        try (ConfigurableApplicationContext context = application()
                .properties("management.endpoints.web.path-mapping.holdfastconsole=locks/page")
                .run()) {
            assertThat(get(context, "/actuator/locks/page").body()).contains("url=page/holdfast/page");
            assertThat(get(context, "/actuator/locks/page/holdfast/page").statusCode())
                    .isEqualTo(200);
        }
    }
}
