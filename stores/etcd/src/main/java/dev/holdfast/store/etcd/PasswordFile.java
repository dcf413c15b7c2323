package dev.holdfast.store.etcd;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;

/** A password in a file, which is read each time; a line end after it is ignored. */
record PasswordFile(Path file) implements Supplier<char[]> {

    private static final int LONGEST = 64 * 1024;

    @Override
    public char[] get() {
        try {
            if (Files.size(file) > LONGEST) {
                throw denied("is larger than 64 KiB and can't be a password");
            }
            return Files.readString(file, StandardCharsets.UTF_8)
                    .replaceFirst("[\r\n]+$", "")
                    .toCharArray();
        } catch (IOException | UncheckedIOException e) {
            throw denied("can't be read: " + e.getClass().getSimpleName());
        }
    }

    private StoreException denied(String why) {
        return new StoreException(Reason.DENIED, Effect.NONE, "the password file " + file + " " + why, null);
    }
}
