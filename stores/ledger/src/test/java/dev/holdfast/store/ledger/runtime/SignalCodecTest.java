package dev.holdfast.store.ledger.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.TokenBlock;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SignalCodecTest {

    static Stream<Signal> signals() {
        ClaimRef claim = new ClaimRef(new ResourceName("a b\n\u0000ü\uD83D\uDD12"), new SessionId("s1f"), 42);
        return Stream.of(
                new Signal.Granted(claim, new Reply.Granted(new TokenBlock(7, 9), Optional.empty(), true)),
                new Signal.Changed(claim),
                new Signal.Revoked(claim),
                new Signal.SessionEnded(claim.session()),
                new Signal.Resubscribed());
    }

    @ParameterizedTest
    @MethodSource("signals")
    void aSignalIsOneLineAndBack(Signal signal) {
        String line = SignalCodec.of(signal);

        assertThat(line).matches("[ -~]+");
        assertThat(SignalCodec.signal(line)).contains(signal);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "g", "g s1 2", "c s1 0 61", "c s1 2 6", "z s1 2 61", "g s1 2 61 9 7 true", "e", "c  2 61"})
    void whatIsNoSignalIsNone(String line) {
        assertThat(SignalCodec.signal(line)).isEmpty();
    }
}
