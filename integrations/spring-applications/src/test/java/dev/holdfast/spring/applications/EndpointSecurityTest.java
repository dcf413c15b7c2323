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
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

@Timeout(180)
@DisplayName("The endpoint behind Spring Security")
class EndpointSecurityTest {

    private static final String NAME = "com.acme.Accounts#withdraw(Transfer)";
    private static final String PATH = "/actuator/holdfast/com.acme.Accounts%23withdraw(Transfer)";

    /** Those who may look, and those who may take locks away. */
    @Configuration(proxyBeanMethods = false)
    static class Users {

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    User.withUsername("viewer")
                            .password("{noop}secret")
                            .roles("LOCK_VIEWER")
                            .build(),
                    User.withUsername("admin")
                            .password("{noop}secret")
                            .roles("LOCK_VIEWER", "LOCK_ADMIN")
                            .build());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Guide {

        @Bean
        SecurityFilterChain locks(HttpSecurity http) {
            return http.securityMatcher(EndpointRequest.to("holdfast"))
                    .authorizeHttpRequests(requests -> requests.requestMatchers(HttpMethod.DELETE)
                            .hasRole("LOCK_ADMIN")
                            .anyRequest()
                            .hasRole("LOCK_VIEWER"))
                    .httpBasic(withDefaults())
                    .csrf(csrf -> csrf.disable())
                    .build();
        }
    }

    private static SpringApplicationBuilder application(Class<?>... beans) {
        return Applications.secured(WebApplicationType.SERVLET, beans)
                .properties("holdfast.store=memory:", "management.endpoints.web.exposure.include=holdfast");
    }

    private static HttpResponse<String> send(ApplicationContext context, String method, String path, String user)
            throws Exception {
        HttpRequest.Builder request =
                Applications.request(context, path).method(method, HttpRequest.BodyPublishers.noBody());
        if (!user.isEmpty()) {
            byte[] credentials = (user + ":secret").getBytes(StandardCharsets.UTF_8);
            request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(credentials));
        }
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static int status(ApplicationContext context, String method, String path, String user) throws Exception {
        return send(context, method, path, user).statusCode();
    }

    @Test
    @DisplayName("shows locks to some, and lets others take them away, with the configuration of the guide")
    void roles() throws Exception {
        try (ConfigurableApplicationContext context = application(Users.class, Guide.class)
                .properties("management.endpoint.holdfast.access=unrestricted")
                .run()) {
            Hold hold = context.getBean(Holdfast.class).lock(NAME).acquire();
            String release = PATH + "?token=" + hold.fencingToken();
            assertThat(status(context, "GET", "/actuator/holdfast", "")).isEqualTo(401);
            assertThat(status(context, "DELETE", release, "")).isEqualTo(401);
            assertThat(status(context, "DELETE", release, "viewer")).isEqualTo(403);
            assertThat(send(context, "GET", "/actuator/holdfast", "viewer").body())
                    .contains(NAME);
            assertThat(send(context, "GET", PATH, "viewer").body()).contains("\"token\":" + hold.fencingToken());
            assertThat(hold.isHeld()).isTrue();
            assertThat(status(context, "DELETE", release, "admin")).isEqualTo(200);
            assertThat(hold.isHeld()).isFalse();
        }
    }

    @Test
    @DisplayName("takes nothing away while its access is read-only, whoever asks")
    void readOnly() throws Exception {
        try (ConfigurableApplicationContext context =
                application(Users.class, Guide.class).run()) {
            Hold hold = context.getBean(Holdfast.class).lock(NAME).acquire();
            assertThat(status(context, "DELETE", PATH + "?token=" + hold.fencingToken(), "admin"))
                    .isEqualTo(405);
            assertThat(status(context, "GET", PATH, "admin")).isEqualTo(200);
            assertThat(hold.isHeld()).isTrue();
        }
    }

    @Test
    @DisplayName("takes nothing away without a token against forged requests, if the application sets nothing up")
    void forgedRequests() throws Exception {
        try (ConfigurableApplicationContext context = application(Users.class)
                .properties("management.endpoint.holdfast.access=unrestricted")
                .run()) {
            Hold hold = context.getBean(Holdfast.class).lock(NAME).acquire();
            assertThat(status(context, "GET", PATH, "")).isEqualTo(401);
            assertThat(status(context, "GET", PATH, "admin")).isEqualTo(200);
            // Refused before the credentials are looked at, so as if there were none.
            assertThat(status(context, "DELETE", PATH + "?token=" + hold.fencingToken(), "admin"))
                    .isEqualTo(401);
            assertThat(hold.isHeld()).isTrue();
        }
    }
}
