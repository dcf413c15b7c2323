package dev.holdfast.servers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Copies as much of a Linux program as is needed to run it. What a debugger reads stands behind that, and may be ten
 * times as long.
 */
final class Elf {

    private static final int MAGIC = 0x464c457f;
    private static final int HEAD = 4_096; // the program headers stand at the beginning

    private Elf() {}

    static void copy(InputStream in, Path target) throws IOException {
        byte[] head = in.readNBytes(HEAD);
        long length = loadedLength(ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN));
        try (var out = Files.newOutputStream(target, StandardOpenOption.CREATE_NEW)) {
            out.write(head);
            byte[] buffer = new byte[1 << 16];
            for (long left = length - head.length; left > 0; ) {
                int count = in.read(buffer, 0, (int) Math.min(left, buffer.length));
                if (count < 0) {
                    throw new IOException("A program that is cut off: " + target);
                }
                out.write(buffer, 0, count);
                left -= count;
            }
        }
    }

    /** Up to the end of the last segment in the file: the kernel and the dynamic linker read no further. */
    private static long loadedLength(ByteBuffer head) throws IOException {
        if (head.getInt(0) != MAGIC || head.get(4) != 2) {
            throw new IOException("Not a 64-bit ELF program");
        }
        long first = head.getLong(32);
        int size = Short.toUnsignedInt(head.getShort(54));
        int count = Short.toUnsignedInt(head.getShort(56));
        long length = 0;
        for (int i = 0; i < count; i++) {
            int at = Math.toIntExact(first + (long) i * size);
            length = Math.max(length, head.getLong(at + 8) + head.getLong(at + 32));
        }
        return length;
    }
}
