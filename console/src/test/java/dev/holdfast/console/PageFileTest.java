package dev.holdfast.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The files of the page")
class PageFileTest {

    private static final Pattern IMPORT = Pattern.compile("(?:from\\s*|import\\s*)[\"'](\\.[^\"']+)[\"']");
    private static final Pattern COLOURS = Pattern.compile("--(\\w+): light-dark\\((#\\w{6}), (#\\w{6})\\)");

    private static List<String> names() {
        return StreamSupport.stream(PageFile.names().spliterator(), false)
                .sorted()
                .toList();
    }

    private static String text(String name) {
        return new String(PageFile.named(name).orElseThrow().body(), StandardCharsets.UTF_8);
    }

    @Test
    @DisplayName("have at most 40 kB compressed and 130 kB uncompressed")
    void sizes() {
        int plain = names().stream()
                .mapToInt(name -> PageFile.named(name).orElseThrow().body().length)
                .sum();
        int compressed = names().stream()
                .mapToInt(name -> PageFile.named(name).orElseThrow().compressed().length)
                .sum();
        assertThat(plain).isBetween(50_000, 130_000);
        assertThat(compressed).isBetween(10_000, 40_000);
    }

    @Test
    @DisplayName("have no inline code or style, and use no other hosts")
    void policy() {
        assertThat(text("index.html"))
                .doesNotContainPattern("<script(?![^>]*src=)")
                .doesNotContainPattern("(?i)<style|\\son\\w+=|\\sstyle=")
                .contains(PageFile.CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'; ", ""));
        for (String name : names()) {
            assertThat(text(name).replace("http://www.w3.org/", "")).as(name).doesNotContainPattern("https?://");
        }
        for (String name : List.of("console.js", "views.js", "tasks.js", "drawings.js", "words.js")) {
            assertThat(text(name)).as(name).doesNotContain("innerHTML", "eval(", "unsafeHTML", " style=", "onclick=");
        }
    }

    @Test
    @DisplayName("are all there, and import only each other")
    void imports() {
        List<String> missing = new ArrayList<>();
        for (String name : names()) {
            IMPORT.matcher(text(name)).results().forEach(found -> {
                java.net.URI target = java.net.URI.create("/" + name).resolve(found.group(1));
                if (PageFile.named(target.getPath().substring(1)).isEmpty()) {
                    missing.add(name + " imports " + found.group(1));
                }
            });
        }
        assertThat(missing).isEmpty();
        assertThat(PageFile.named("package-info.class")).isEmpty();
    }

    @Test
    @DisplayName("have text with a contrast of at least 4.5, in light and dark")
    void contrast() {
        var colours = COLOURS.matcher(text("console.css"))
                .results()
                .collect(Collectors.toMap(found -> found.group(1), found -> List.of(found.group(2), found.group(3))));
        assertThat(colours).containsKeys("text", "muted", "accent", "trouble", "surface", "raised", "bg");
        for (int theme = 0; theme < 2; theme++) {
            for (String front : List.of("text", "muted", "accent", "trouble")) {
                for (String back : List.of("surface", "raised", "bg")) {
                    assertThat(contrast(
                                    colours.get(front).get(theme),
                                    colours.get(back).get(theme)))
                            .as(front + " on " + back)
                            .isGreaterThanOrEqualTo(4.5);
                }
            }
        }
    }

    /** The ratio of WCAG 2. */
    private static double contrast(String one, String other) {
        double a = luminance(one);
        double b = luminance(other);
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    }

    private static double luminance(String colour) {
        double[] weights = {0.2126, 0.7152, 0.0722};
        double sum = 0;
        for (int i = 0; i < 3; i++) {
            double c = Integer.parseInt(colour.substring(1 + 2 * i, 3 + 2 * i), 16) / 255.0;
            sum += weights[i] * (c <= 0.04045 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4));
        }
        return sum;
    }
}
