package dev.holdfast.servers;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.tukaani.xz.XZInputStream;

/**
 * Unpacks the archives that carry servers: files, directories and symbolic links with short names, and nothing else.
 */
final class TarXz {

    private static final int BLOCK = 512;
    private static final int OWNER_MAY_EXECUTE = 0100;

    private TarXz() {}

    static void unpack(InputStream packed, Path directory) throws IOException {
        DataInputStream in = new DataInputStream(new XZInputStream(packed));
        byte[] header = new byte[BLOCK];
        for (in.readFully(header); header[0] != 0; in.readFully(header)) {
            entry(in, header, directory);
        }
    }

    private static void entry(InputStream in, byte[] header, Path directory) throws IOException {
        Path target = directory.resolve(text(header, 0, 100)).normalize();
        if (!target.startsWith(directory)) {
            throw new IOException("An archive that writes outside of its place: " + target);
        }
        long size = octal(header, 124, 12);
        switch (header[156]) {
            case '5' -> Files.createDirectories(target);
            case '2' -> {
                Files.createDirectories(target.getParent());
                Files.createSymbolicLink(target, Path.of(text(header, 157, 100)));
            }
            case '0', 0 -> {
                Files.createDirectories(target.getParent());
                try (OutputStream out = Files.newOutputStream(target)) {
                    copy(in, size, out);
                }
                boolean program = (octal(header, 100, 8) & OWNER_MAY_EXECUTE) != 0;
                Files.setPosixFilePermissions(
                        target, PosixFilePermissions.fromString(program ? "rwxr-xr-x" : "rw-r--r--"));
                in.skipNBytes((BLOCK - size % BLOCK) % BLOCK);
            }
            default -> throw new IOException("An archive with an entry of type " + (char) header[156] + ": " + target);
        }
    }

    private static void copy(InputStream in, long size, OutputStream out) throws IOException {
        byte[] buffer = new byte[1 << 16];
        for (long left = size; left > 0; ) {
            int count = in.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (count < 0) {
                throw new EOFException();
            }
            out.write(buffer, 0, count);
            left -= count;
        }
    }

    private static String text(byte[] header, int from, int length) {
        int end = from;
        while (end < from + length && header[end] != 0) {
            end++;
        }
        return new String(header, from, end - from, StandardCharsets.UTF_8);
    }

    private static long octal(byte[] header, int from, int length) {
        String digits = text(header, from, length).strip();
        return digits.isEmpty() ? 0 : Long.parseLong(digits, 8);
    }
}
