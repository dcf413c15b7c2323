package dev.holdfast.store.redis;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Tokens;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** One command as the script reads it: a letter, and its arguments in the order that is written down there. */
final class Request {

    /** No session of ours has this id. */
    private static final SessionId NOBODY = new SessionId("?");

    private final List<byte[]> arguments = new ArrayList<>(12);

    private Request(char letter) {
        text(Character.toString(letter));
    }

    /** What stands for the command among the arguments of the script. */
    List<byte[]> arguments() {
        return arguments;
    }

    /** Ends a part of what is due, as every step does, and nothing else. */
    static Request sweep() {
        return new Request('.');
    }

    /** Does all that a step may do, and leaves nothing behind. */
    static Request probe() {
        return new Request('?');
    }

    /** Asks about resources, for people. */
    static Request inspect(List<byte[]> names) {
        Request request = new Request('I').number(names.size());
        names.forEach(request::bytes);
        return request;
    }

    static Request openSession(Command.OpenSession command, long least, long nonce, String client) {
        return new Request('O')
                .number(Math.max(least, Micros.of(command.ttl())))
                .text(HexFormat.of().toHexDigits(nonce))
                .text(client)
                .bytes(command.label().getBytes(StandardCharsets.UTF_8));
    }

    static Request audit(Command.Audit command, int most) {
        return new Request('U')
                .session(command.session())
                .bytes(command.cursor().orElse("").getBytes(StandardCharsets.UTF_8))
                .number(Math.min(command.limit(), most));
    }

    static Request poll(List<ClaimRef> claims) {
        Request request = new Request('P').number(claims.size());
        claims.forEach(request::claim);
        return request;
    }

    /** All other commands. */
    static Request of(Command command) {
        if (command instanceof Acquire acquire) {
            return new Request('A')
                    .claim(acquire.claim())
                    .exact(acquire.epoch())
                    .asked(acquire)
                    .text(acquire.waiting() == Command.Waiting.QUEUE ? "q" : "t");
        } else if (command instanceof Command.Release release) {
            return new Request('R').claim(release.claim());
        } else if (command instanceof Command.Withdraw withdraw) {
            return new Request('W').claim(withdraw.claim());
        } else if (command instanceof Command.Yield yield) {
            return new Request('Y')
                    .claim(yield.claim())
                    .number(yield.next().claim().claim())
                    .exact(yield.next().epoch())
                    .asked(yield.next());
        } else if (command instanceof Command.Advance advance) {
            return new Request('V')
                    .claim(advance.claim())
                    .number(advance.blockEnd())
                    .number(advance.tokens())
                    .number(Math.min(Math.max(0, advance.atLeast()), Tokens.MAX_TOKEN));
        } else if (command instanceof Command.ShrinkTo shrink) {
            return new Request('H').claim(shrink.claim()).number(shrink.weight());
        } else if (command instanceof Command.Extend extend) {
            return new Request('T').claim(extend.claim()).exact(extend.seq()).micros(extend.lease());
        } else if (command instanceof Command.OnResource onResource) {
            return onResource(onResource);
        } else if (command instanceof Command.KeepAlive keepAlive) {
            return new Request('K').session(keepAlive.session()).exact(keepAlive.epoch());
        } else if (command instanceof Command.Retire retire) {
            return new Request('X').session(retire.session());
        } else if (command instanceof Command.CloseSession close) {
            return new Request('C').session(close.session());
        }
        throw new IllegalArgumentException("Not a command that this store knows: " + command);
    }

    private static Request onResource(Command.OnResource command) {
        if (command instanceof Command.SetCount set) {
            return new Request('N')
                    .name(set.resource())
                    .session(set.session())
                    .exact(set.epoch())
                    .exact(set.generation())
                    .exact(set.count());
        } else if (command instanceof Command.CountDown down) {
            return new Request('D')
                    .name(down.resource())
                    .exact(Math.max(0, down.generation()))
                    .text(down.id())
                    .exact(down.n());
        } else if (command instanceof Command.Resize resize) {
            return new Request('Z')
                    .name(resize.resource())
                    .session(resize.session())
                    .exact(resize.epoch())
                    .number(resize.capacity());
        } else if (command instanceof Command.ForceRelease force) {
            // No grant has a token beyond that, and the script counts no further.
            return new Request('F')
                    .name(force.resource())
                    .number(force.token() > Tokens.MAX_TOKEN ? 0 : Math.max(0, force.token()));
        }
        throw new IllegalArgumentException("Not a command that this store knows: " + command);
    }

    private Request asked(Acquire acquire) {
        return text(spec(acquire.spec()))
                .number(acquire.weight())
                .text(binding(acquire.lease()))
                .micros(acquire.lease().length())
                .number(acquire.tokens());
    }

    /** Kind, order and capacity. */
    private static String spec(ResourceSpec spec) {
        return spec.equals(ResourceSpec.MUTEX)
                ? "mf1"
                : spec.kind().code() + (spec.order() == Order.BARGING ? "b" : "f") + spec.capacity();
    }

    private static String binding(Lease lease) {
        return switch (lease.binding()) {
            case SESSION -> "s";
            case BOUNDED -> "b";
            case DETACHED -> "d";
        };
    }

    @CanIgnoreReturnValue
    private Request claim(ClaimRef claim) {
        return name(claim.resource()).session(claim.session()).number(claim.claim());
    }

    private Request name(ResourceName name) {
        return bytes(name.utf8());
    }

    /** Ids that this store has not made are never put together with anything. */
    private Request session(SessionId id) {
        return text((isOurs(id.value()) ? id : NOBODY).value());
    }

    private static boolean isOurs(String id) {
        for (int i = 0; i < id.length(); i++) {
            char c = id.charAt(i);
            if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f') && c != '.') {
                return false;
            }
        }
        return true;
    }

    private Request micros(Duration duration) {
        return number(Micros.of(duration));
    }

    /** A number that the script counts with. */
    private Request number(long value) {
        return text(Long.toString(value));
    }

    /** A number that may be beyond what the script counts exactly, so that it compares it as text: 19 digits. */
    private Request exact(long value) {
        byte[] digits = new byte[19];
        long rest = Math.max(0, value);
        for (int i = digits.length - 1; i >= 0; i--) {
            digits[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        return bytes(digits);
    }

    @CanIgnoreReturnValue
    private Request text(String ascii) {
        return bytes(ascii.getBytes(StandardCharsets.US_ASCII));
    }

    @CanIgnoreReturnValue
    private Request bytes(byte[] argument) {
        arguments.add(argument);
        return this;
    }
}
