package dev.holdfast.spi.support;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * Random numbers that differ between all processes, even between clones of one machine.
 *
 * <p>They are read from the kernel's file where there is one: to set up {@link SecureRandom} for eight bytes takes
 * longer than to acquire a lock, which a short command would notice.
 */
public final class Randomness {

    private static final String SOURCE = "/dev/urandom";

    private Randomness() {}

    /** The next 64 random bits; for seeds and identifiers only. */
    public static long nextLong() {
        try (InputStream in = new FileInputStream(SOURCE)) {
            byte[] bytes = in.readNBytes(Long.BYTES);
            if (bytes.length == Long.BYTES) {
                return ByteBuffer.wrap(bytes).getLong();
            }
        } catch (IOException e) {
            // Without the file, or without access to it, the library is used.
        }
        return new SecureRandom().nextLong();
    }
}
