package dev.holdfast.store.etcd.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessagesTest {

    @ParameterizedTest
    @ValueSource(longs = {1, 127, 128, 16_383, 16_384, Long.MAX_VALUE, -1, Long.MIN_VALUE})
    void numbersAreReadAsTheyWereWritten(long number) {
        MessageReader reader =
                new MessageReader(new MessageWriter().number(3, number).toBytes());
        assertThat(reader.next()).isEqualTo(3);
        assertThat(reader.number()).isEqualTo(number);
        assertThat(reader.next()).isZero();
    }

    /** As in the documentation of the format. */
    @Test
    void bytesAreThoseOfTheFormat() {
        assertThat(new MessageWriter().number(1, 150).toBytes()).containsExactly(0x08, 0x96, 0x01);
        assertThat(new MessageWriter().bytes(2, new byte[] {'t'}).toBytes()).containsExactly(0x12, 0x01, 't');
    }

    @Test
    void defaultsAreLeftOutUnlessTheyMatter() {
        MessageWriter empty = new MessageWriter().number(1, 0).flag(2, false).bytes(3, new byte[0]);
        assertThat(empty.toBytes()).isEmpty();
        assertThat(new MessageWriter().present(1, 0).toBytes()).containsExactly(0x08, 0x00);
        assertThat(new MessageWriter().message(1, empty).toBytes()).containsExactly(0x0a, 0x00);
    }

    @Test
    void fieldsThatNobodyAsksForAreSkipped() {
        byte[] message = {
            0x08, 0x01, // a number
            0x11, 1, 2, 3, 4, 5, 6, 7, 8, // eight bytes
            0x1a, 0x02, 'a', 'b', // a text
            0x25, 1, 2, 3, 4, // four bytes
            0x28, 0x07
        };
        MessageReader reader = new MessageReader(message);
        int field = reader.next();
        while (field != 5) {
            field = reader.next();
        }
        assertThat(reader.number()).isEqualTo(7);
        assertThat(reader.next()).isZero();
    }

    @Test
    void messageThatIsCutOffIsRefused() {
        byte[] whole = new MessageWriter()
                .number(1, 300)
                .bytes(2, new byte[] {1, 2, 3})
                .toBytes();
        for (int length : new int[] {1, 2, 4, 5, whole.length - 1}) {
            byte[] part = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> readAll(part)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> readAll(new byte[] {0x0b})).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> readAll(new byte[] {0x00})).isInstanceOf(IllegalArgumentException.class);
    }

    private static void readAll(byte[] message) {
        MessageReader reader = new MessageReader(message);
        while (reader.next() != 0) {
            // Each is skipped.
        }
    }
}
