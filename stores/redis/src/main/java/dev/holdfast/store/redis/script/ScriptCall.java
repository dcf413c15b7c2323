package dev.holdfast.store.redis.script;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.TokenBlock;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One command as the script reads it: a letter, and its arguments in the order that is written down there. */
public final class ScriptCall {

    /** No session of ours has this id. */
    private static final String NOBODY = "?";

    private final List<byte[]> arguments = new ArrayList<>(12);

    private ScriptCall(char letter) {
        text(Character.toString(letter));
    }

    /** What stands for the command among the arguments of the script. */
    public List<byte[]> arguments() {
        return arguments;
    }

    /** Ends a part of what is due, as every step does, and nothing else. */
    public static ScriptCall sweep() {
        return new ScriptCall('.');
    }

    /** Does all that a step may do, and leaves nothing behind. */
    public static ScriptCall probe(String client) {
        return new ScriptCall('?').text(client);
    }

    /** Asks about resources, for people. */
    public static ScriptCall inspect(List<byte[]> names) {
        ScriptCall request = new ScriptCall('I').number(names.size());
        names.forEach(request::bytes);
        return request;
    }

    /**
     * Asks about one resource, for people.
     *
     * @param after the place of a holder: only those behind it are asked for
     * @param most how many of them
     */
    public static ScriptCall inspect(ResourceName name, String after, int most) {
        return new ScriptCall('L').name(name).text(after).number(most);
    }

    /**
     * Ends the grant that has a token.
     *
     * @param after where the call before has come to, as the script told; empty at first
     */
    public static ScriptCall force(Command.ForceRelease command, String after) {
        // No grant has a token beyond that, and the script counts no further.
        return new ScriptCall('F')
                .name(command.resource())
                .number(command.token() > TokenBlock.MAX_TOKEN ? 0 : Math.max(0, command.token()))
                .text(after);
    }

    public static ScriptCall openSession(Command.OpenSession command, long least, String nonce, String client) {
        return new ScriptCall('O')
                .number(Math.max(least, Micros.of(command.ttl())))
                .text(nonce)
                .text(client)
                .bytes(command.label().getBytes(StandardCharsets.UTF_8));
    }

    public static ScriptCall audit(Command.Audit command, int most) {
        return new ScriptCall('U')
                .session(command.session())
                .bytes(command.cursor().orElse("").getBytes(StandardCharsets.UTF_8))
                .number(Math.min(command.limit(), most));
    }

    public static ScriptCall poll(List<ClaimRef> claims) {
        ScriptCall request = new ScriptCall('P').number(claims.size());
        claims.forEach(request::claim);
        return request;
    }

    /** The release of a grant; slotDigits as of {@link BucketLayout#slotDigits()}. */
    public static ScriptCall release(Command.Release command, int slotDigits) {
        return new ScriptCall('R').name(command.resource()).reference(command.claim(), slotDigits);
    }

    public static ScriptCall withdraw(Command.Withdraw command) {
        return new ScriptCall('W').claim(command.claim());
    }

    public static ScriptCall advance(Command.Advance command) {
        return new ScriptCall('V')
                .claim(command.claim())
                .number(command.blockEnd())
                .number(command.tokens())
                .number(Math.min(Math.max(0, command.atLeast()), TokenBlock.MAX_TOKEN));
    }

    public static ScriptCall shrinkTo(Command.ShrinkTo command) {
        return new ScriptCall('H').claim(command.claim()).number(command.weight());
    }

    public static ScriptCall extend(Command.Extend command) {
        return new ScriptCall('T').claim(command.claim()).exact(command.seq()).micros(command.lease());
    }

    public static ScriptCall keepAlive(Command.KeepAlive command) {
        return new ScriptCall('K').session(command.session()).exact(command.epoch());
    }

    public static ScriptCall retire(Command.Retire command) {
        return new ScriptCall('X').session(command.session());
    }

    public static ScriptCall closeSession(Command.CloseSession command) {
        return new ScriptCall('C').session(command.session());
    }

    public static ScriptCall setCount(Command.SetCount command) {
        return new ScriptCall('N')
                .name(command.resource())
                .session(command.session())
                .exact(command.epoch())
                .exact(command.generation())
                .exact(command.count());
    }

    public static ScriptCall countDown(Command.CountDown command) {
        return new ScriptCall('D')
                .name(command.resource())
                .exact(Math.max(0, command.generation()))
                .text(command.id())
                .exact(command.n());
    }

    public static ScriptCall resize(Command.Resize command) {
        return new ScriptCall('Z')
                .name(command.resource())
                .session(command.session())
                .exact(command.epoch())
                .number(command.capacity());
    }

    /** By far the most ask for one token of a mutex; the script knows them by a letter of their own. */
    public static ScriptCall acquire(Acquire acquire, int slotDigits) {
        boolean waits = acquire.waiting() == Command.Waiting.QUEUE;
        boolean isBound = acquire.lease().binding() == Lease.Binding.SESSION;
        boolean isUsual = waits && isBound && isUsual(acquire);
        char letter = isUsual ? 'M' : isBound ? waits ? 'A' : 'a' : 'B';
        ScriptCall request = new ScriptCall(letter)
                .name(acquire.claim().resource())
                .owner(acquire.claim().session())
                .reference(acquire.claim(), slotDigits)
                .exact(acquire.epoch());
        if (!isUsual) {
            request.asked(acquire);
        }
        if (!isBound) {
            request.lease(acquire.lease()).text(waits ? "q" : "t");
        }
        return request;
    }

    private static boolean isUsual(Acquire acquire) {
        return acquire.spec().equals(ResourceSpec.MUTEX) && acquire.weight() == 1 && acquire.tokens() == 1;
    }

    /** A grant given up for another claim; slotDigits as of {@link BucketLayout#slotDigits()}. */
    public static ScriptCall yieldFor(Command.Yield yield, int slotDigits) {
        Acquire next = yield.next();
        boolean isBound = next.lease().binding() == Lease.Binding.SESSION;
        ScriptCall request = new ScriptCall(isBound ? 'Y' : 'y')
                .name(yield.claim().resource())
                .owner(yield.claim().session())
                .reference(yield.claim(), slotDigits)
                .reference(next.claim(), slotDigits)
                .exact(next.epoch())
                .asked(next);
        return isBound ? request : request.lease(next.lease());
    }

    @CanIgnoreReturnValue
    private ScriptCall asked(Acquire acquire) {
        return text(spec(acquire.spec()) + " " + acquire.weight()).number(acquire.tokens());
    }

    private ScriptCall lease(Lease lease) {
        return text(binding(lease)).micros(lease.length());
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
    private ScriptCall claim(ClaimRef claim) {
        return name(claim.resource()).session(claim.session()).number(claim.claim());
    }

    private ScriptCall name(ResourceName name) {
        return bytes(name.utf8());
    }

    /** Where the script finds the session of a claim. */
    private ScriptCall owner(SessionId id) {
        return text("\u00ff" + ours(id));
    }

    /**
     * What the record of a grant begins with, and where the session finds the name again: so the script need not put
     * them together.
     */
    private ScriptCall reference(ClaimRef claim, int slotDigits) {
        String session = ours(claim.session());
        long number = claim.claim();
        long slot = number % (slotDigits == 1 ? 10 : 1_000);
        String padding = slot < 10 ? "00" : slot < 100 ? "0" : "";
        return text("S " + session + " " + number + " ").text("\u00ffc" + session + " " + padding + slot);
    }

    /** Ids that this store has not made are never put together with anything. */
    private ScriptCall session(SessionId id) {
        return text(ours(id));
    }

    private static String ours(SessionId id) {
        return isOurs(id.value()) ? id.value() : NOBODY;
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

    private ScriptCall micros(Duration duration) {
        return number(Micros.of(duration));
    }

    /** A number that the script counts with. */
    private ScriptCall number(long value) {
        return text(Long.toString(value));
    }

    /** A number that may be beyond what the script counts exactly, so that it compares it as text: 19 digits. */
    private ScriptCall exact(long value) {
        byte[] digits = new byte[19];
        long rest = Math.max(0, value);
        for (int i = digits.length - 1; i >= 0; i--) {
            digits[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        return bytes(digits);
    }

    @CanIgnoreReturnValue
    private ScriptCall text(String latin) {
        return bytes(latin.getBytes(StandardCharsets.ISO_8859_1));
    }

    @CanIgnoreReturnValue
    private ScriptCall bytes(byte[] argument) {
        arguments.add(argument);
        return this;
    }
}
