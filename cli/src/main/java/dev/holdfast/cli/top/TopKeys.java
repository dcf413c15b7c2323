package dev.holdfast.cli.top;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Reads keys from the bytes that a terminal sends: characters in UTF-8, and escape sequences. */
final class TopKeys {

    private final InputStream in;

    TopKeys(InputStream in) {
        this.in = in;
    }

    /** The next key, as a character or one of the constants of {@link TopState}; -1 at the end. */
    int next() throws IOException {
        int first = in.read();
        if (first == TopState.ESCAPE) {
            return in.available() == 0 ? TopState.ESCAPE : sequence();
        }
        return first < 0x80 ? first : character(first);
    }

    private int sequence() throws IOException {
        int kind = in.read();
        if (kind != '[' && kind != 'O') {
            return TopState.ESCAPE;
        }
        int last = in.read();
        int number = 0;
        while (last >= '0' && last <= ';') {
            number = last <= '9' ? number * 10 % 1_000 + last - '0' : number;
            last = in.read();
        }
        return switch (last) {
            case 'A' -> TopState.UP;
            case 'B' -> TopState.DOWN;
            case '~' -> number == 5 ? TopState.PAGE_UP : number == 6 ? TopState.PAGE_DOWN : 0;
            default -> 0; // of no meaning here
        };
    }

    private int character(int first) throws IOException {
        int length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
        byte[] bytes = new byte[length];
        bytes[0] = (byte) first;
        int read = in.readNBytes(bytes, 1, length - 1);
        return new String(bytes, 0, read + 1, StandardCharsets.UTF_8).codePointAt(0);
    }
}
