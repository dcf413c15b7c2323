package dev.holdfast.spi.support;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * Numbers that no other process draws, on this machine or another, also not a clone of this one that was started again.
 *
 * <p>They are read from the kernel where it has a file for that: setting up {@link SecureRandom} for eight bytes takes
 * longer than acquiring a lock, which a command that runs for a moment would feel.
 */
public final class Randomness {

    private static final String SOURCE = "/dev/urandom";

    private Randomness() {}

    /** The next 64 random bits; for seeds and identifiers, not for every number that is needed. */
    public static long nextLong() {
        try (InputStream in = new FileInputStream(SOURCE)) {
            byte[] bytes = in.readNBytes(Long.BYTES);
            if (bytes.length == Long.BYTES) {
                return ByteBuffer.wrap(bytes).getLong();
            }
        } catch (IOException e) {
            // No such file here, or no access to it: the library knows other ways.
        }
        return new SecureRandom().nextLong();
    }
}
