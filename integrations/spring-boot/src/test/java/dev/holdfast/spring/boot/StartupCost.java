package dev.holdfast.spring.boot;

import com.sun.management.OperatingSystemMXBean;
import dev.holdfast.Holdfast;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.ConfigurationPropertiesAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * Measures what the auto-configuration adds to the start of an application: starts a JVM again and again, in turn
 * without it, with it and no lock in use, and with a client of a store in memory. Run it by hand.
 */
public final class StartupCost {

    private StartupCost() {}

    /** What every small application has. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        ConfigurationPropertiesAutoConfiguration.class,
        PropertyPlaceholderAutoConfiguration.class,
        TaskExecutionAutoConfiguration.class,
        TaskSchedulingAutoConfiguration.class
    })
    static class Plain {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
    static class WithHoldfast extends Plain {}

    public static void main(String... arguments) throws Exception {
        if (arguments.length == 1) {
            start(arguments[0]);
            return;
        }
        TreeMap<String, List<long[]>> times = new TreeMap<>();
        for (int round = 0; round < Integer.getInteger("rounds", 15); round++) {
            for (String kind : List.of("1 without", "2 unused", "3 used")) {
                times.computeIfAbsent(kind, key -> new ArrayList<>()).add(measured(kind));
            }
        }
        times.forEach((kind, all) -> System.out.printf(
                "%-10s wall %d ms, processor %d ms (medians of %d)%n",
                kind, median(all, 0), median(all, 1), all.size()));
    }

    private static long median(List<long[]> all, int which) {
        return all.stream().mapToLong(each -> each[which]).sorted().toArray()[all.size() / 2];
    }

    private static long[] measured(String kind) throws IOException, InterruptedException {
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        StartupCost.class.getName(),
                        kind)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (InputStream out = jvm.getInputStream()) {
            String text = new String(out.readAllBytes(), StandardCharsets.UTF_8);
            int from = text.indexOf("took ");
            if (jvm.waitFor() != 0 || from < 0) {
                throw new IllegalStateException("The start failed: " + text);
            }
            String[] numbers =
                    text.substring(from + 5, text.indexOf('\n', from)).split(" ");
            return new long[] {Long.parseLong(numbers[0]), Long.parseLong(numbers[1])};
        }
    }

    private static void start(String kind) {
        OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        long processor = process.getProcessCpuTime();
        long begin = System.nanoTime();
        Class<?> application = kind.startsWith("1") ? Plain.class : WithHoldfast.class;
        ConfigurableApplicationContext context =
                SpringApplication.run(application, "--holdfast.store=memory:", "--logging.level.root=warn");
        if (kind.startsWith("3")
                && context.getBean(Holdfast.class).lock("report").tryAcquire().isEmpty()) {
            throw new IllegalStateException("Who else has it?");
        }
        System.out.println("took " + (System.nanoTime() - begin) / 1_000_000 + " "
                + (process.getProcessCpuTime() - processor) / 1_000_000);
        context.close();
    }
}
