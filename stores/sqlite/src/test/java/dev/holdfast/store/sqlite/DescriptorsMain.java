package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/** Opens a file repeatedly, with increasing numbers of free file descriptors, and answers with the results. */
final class DescriptorsMain {

    private DescriptorsMain() {}

    public static void main(String[] args) throws Exception {
        Path file = Path.of(args[0]);
        // No class can be loaded without a descriptor.
        String warm = open(file) + open(file.getParent());
        warm += SqliteErrorCodes.noDescriptors(file, Effect.NONE, new IOException()) + "";
        assert !SqliteErrorCodes.lacksDescriptors() : warm;
        System.out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(openWithFew(file));
        }
    }

    private static String openWithFew(Path file) throws IOException {
        Deque<InputStream> taken = new ArrayDeque<>();
        try {
            while (true) {
                taken.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException none) {
            StringBuilder answers = new StringBuilder();
            String answer = open(file);
            while (!answer.equals("opened")) {
                answers.append(answer).append(" | ");
                taken.remove().close();
                answer = open(file);
            }
            return answers + answer;
        } finally {
            for (InputStream each : taken) {
                each.close();
            }
        }
    }

    private static String open(Path file) {
        try {
            SqliteStore.open(file).close();
            return "opened";
        } catch (StoreException e) {
            return e.reason() + " " + e.getMessage();
        }
    }
}
