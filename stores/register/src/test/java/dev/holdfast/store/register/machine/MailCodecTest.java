package dev.holdfast.store.register.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.store.register.Arrival;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Mail")
class MailCodecTest {

    private static final SessionId SESSION = new SessionId("s1");
    private static final ResourceName NAME = new ResourceName("tenant-7/order");
    private static final byte[] STATE = {1, 2, 3};
    private static final byte[] NONE = {};

    private static final List<Notice> NOTICES = List.of(
            new Notice(claim(1), Notice.Kind.GRANTED, 5, 8, true),
            new Notice(claim(2), Notice.Kind.CHANGED, 0, 0, false),
            new Notice(claim(3), Notice.Kind.REVOKED, 0, 0, false));

    private static ClaimRef claim(long number) {
        return new ClaimRef(NAME, SESSION, number);
    }

    @Test
    @DisplayName("tells what was written, with the state of the record")
    void isReadBack() {
        MailCodec.Mail mail = MailCodec.decode(SESSION, MailCodec.encode(NOTICES, STATE));
        assertThat(mail.resource()).isEqualTo(NAME);
        assertThat(mail.state()).hasValueSatisfying(state -> assertThat(state).isEqualTo(STATE));
        assertThat(mail.signals(100))
                .containsExactly(
                        new Signal.Granted(
                                claim(1), new Reply.Granted(new TokenBlock(105, 108), Optional.empty(), true)),
                        new Signal.Changed(claim(2)),
                        new Signal.Revoked(claim(3)));
    }

    @Test
    @DisplayName("may leave the state out")
    void withoutState() {
        assertThat(MailCodec.decode(SESSION, MailCodec.encode(NOTICES, NONE)).state())
                .isEmpty();
    }

    @Test
    @DisplayName("tells of a claim that waits beside the record")
    void arrival() {
        Arrival arrival = new Arrival(new ClaimRef(NAME, new SessionId("another"), 7), 3, STATE);
        MailCodec.Mail mail = MailCodec.decode(SESSION, MailCodec.encode(arrival, 5));
        assertThat(mail.resource()).isEqualTo(NAME);
        assertThat(mail.notices()).isEmpty();
        assertThat(mail.state()).isEmpty();
        assertThat(mail.oldest()).isEqualTo(5);
        assertThat(mail.arrival()).hasValueSatisfying(told -> {
            assertThat(told.claim()).isEqualTo(arrival.claim());
            assertThat(told.epoch()).isEqualTo(3);
            assertThat(told.request()).isEqualTo(STATE);
        });
    }

    @Test
    @DisplayName("that is cut off, or has something behind it, is refused")
    void damaged() {
        damaged(MailCodec.encode(NOTICES, STATE));
        damaged(MailCodec.encode(new Arrival(claim(1), 3, STATE), 1));
    }

    private static void damaged(byte[] mail) {
        for (int length = 0; length < mail.length; length++) {
            refused(Arrays.copyOf(mail, length));
        }
        refused(Arrays.copyOf(mail, mail.length + 1));
    }

    @Test
    @DisplayName("in which one octet is a different one is read, or refused")
    void oneOctetIsDifferent() {
        for (byte[] whole :
                List.of(MailCodec.encode(NOTICES, STATE), MailCodec.encode(new Arrival(claim(1), 3, STATE), 1))) {
            for (int at = 0; at < whole.length; at++) {
                for (int octet = 0; octet < 256; octet++) {
                    byte[] damaged = whole.clone();
                    damaged[at] = (byte) octet;
                    try {
                        assertThat(MailCodec.decode(SESSION, damaged).resource().value())
                                .isNotEmpty();
                    } catch (StoreException e) {
                        assertThat(e.reason()).isEqualTo(StoreException.Reason.CORRUPT);
                    }
                }
            }
        }
    }

    private static void refused(byte[] mail) {
        assertThatThrownBy(() -> MailCodec.decode(SESSION, mail))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.reason()).isEqualTo(StoreException.Reason.CORRUPT));
    }
}
