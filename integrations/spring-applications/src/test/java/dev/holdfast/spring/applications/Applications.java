package dev.holdfast.spring.applications;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Applications with all that Spring Boot configures for what is on the class path, and requests to them. */
final class Applications {

    private static final String SECURITY = "org.springframework.boot.security.autoconfigure";

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    private Applications() {}

    /** An application that asks for no user, on a free port if it has a web server. */
    static SpringApplicationBuilder open(WebApplicationType type, Class<?>... beans) {
        return secured(type, beans)
                .properties("spring.autoconfigure.exclude="
                        + String.join(
                                ",",
                                SECURITY + ".web.servlet.ServletWebSecurityAutoConfiguration",
                                SECURITY + ".web.servlet.SecurityFilterAutoConfiguration",
                                SECURITY + ".actuate.web.servlet.ManagementWebSecurityAutoConfiguration",
                                SECURITY + ".web.reactive.ReactiveWebSecurityAutoConfiguration",
                                SECURITY + ".actuate.web.reactive.ReactiveManagementWebSecurityAutoConfiguration"));
    }

    /** An application with Spring Security, on a free port if it has a web server. */
    static SpringApplicationBuilder secured(WebApplicationType type, Class<?>... beans) {
        return new SpringApplicationBuilder(Application.class)
                .sources(beans)
                .web(type)
                .properties("server.port=0", "spring.main.banner-mode=off");
    }

    static HttpResponse<String> post(ApplicationContext context, String path, String accept) throws Exception {
        return postAsync(context, path, accept).get(30, TimeUnit.SECONDS);
    }

    static CompletableFuture<HttpResponse<String>> postAsync(ApplicationContext context, String path, String accept) {
        HttpRequest request = request(context, path)
                .header("Accept", accept)
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        return CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    /** A request to the web server of an application. */
    static HttpRequest.Builder request(ApplicationContext context, String path) {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path));
    }
}
