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
import dev.holdfast.spi.support.Micros;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One command in the form that the script reads: its operation's letter and then its arguments, in a fixed order. */
public final class ScriptCall {

    /** An id that no session of this store has. */
    private static final String FOREIGN = "?";

    /**
     * The operations, each with the letter that stands for it on the wire. One letter, since each byte and each
     * argument takes time; the layers of the script use the same names.
     */
    private enum Operation {
        /** One token of a fair mutex, bound to its session: by far the most frequent claim. */
        ACQUIRE_MUTEX('M'),
        /** Any other claim bound to its session that may queue. */
        ACQUIRE('A'),
        /** A claim bound to its session that is rejected instead of queued. */
        TRY('a'),
        /** A claim with a fixed lease, whether it may queue or not. */
        ACQUIRE_LEASED('B'),
        YIELD('Y'),
        /** A yield for a claim with a fixed lease. */
        YIELD_LEASED('y'),
        RELEASE('R'),
        WITHDRAW('W'),
        POLL('P'),
        ADVANCE('V'),
        OPEN('O'),
        KEEP_ALIVE('K'),
        RETIRE('X'),
        CLOSE('C'),
        AUDIT('U'),
        SHRINK('H'),
        EXTEND('T'),
        SET_COUNT('N'),
        COUNT_DOWN('D'),
        RESIZE('Z'),
        INSPECT('I'),
        INSPECT_ONE('L'),
        LIST_WAITED('Q'),
        ANNOTATE('E'),
        RECORD_RUN('J'),
        LIST_RUNS('G'),
        /** Before a release or a yield of an annotated grant. */
        ANNOTATED('e'),
        FORCE('F'),
        PROBE('?'),
        SWEEP('.');

        private final char letter;

        Operation(char letter) {
            this.letter = letter;
        }
    }

    private final List<byte[]> arguments = new ArrayList<>(12);

    private ScriptCall(Operation operation) {
        text(Character.toString(operation.letter));
    }

    /** The part of the script's ARGV for this command. */
    public List<byte[]> arguments() {
        return arguments;
    }

    /** Does nothing but end some of what is due, as every call does first. */
    public static ScriptCall sweep() {
        return new ScriptCall(Operation.SWEEP);
    }

    /** Tries everything that a step may do, and leaves nothing behind. */
    public static ScriptCall probe(String client) {
        return new ScriptCall(Operation.PROBE).text(client);
    }

    /** Inspects resources. */
    public static ScriptCall inspect(List<byte[]> names) {
        ScriptCall request = new ScriptCall(Operation.INSPECT).number(names.size());
        names.forEach(request::bytes);
        return request;
    }

    /**
     * Inspects one resource.
     *
     * @param after the place of a holder: only holders behind it are listed
     * @param most the maximum number of holders
     */
    public static ScriptCall inspect(ResourceName name, String after, int most) {
        return new ScriptCall(Operation.INSPECT_ONE).name(name).text(after).number(most);
    }

    /**
     * Lists the names with waiters.
     *
     * @param cursor of the server, at first 0
     * @param pattern of the names
     * @param most how many names the server looks at, approximately
     */
    public static ScriptCall listWaited(String cursor, byte[] pattern, int most) {
        return new ScriptCall(Operation.LIST_WAITED).text(cursor).bytes(pattern).number(most);
    }

    public static ScriptCall recordRun(Command.RecordRun command) {
        return new ScriptCall(Operation.RECORD_RUN)
                .name(command.resource())
                .number(Math.min(command.token(), TokenBlock.MAX_TOKEN))
                .bytes(command.run().getBytes(StandardCharsets.UTF_8));
    }

    public static ScriptCall listRuns(Command.ListRuns command) {
        return new ScriptCall(Operation.LIST_RUNS).name(command.resource());
    }

    public static ScriptCall annotate(Command.Annotate command) {
        return new ScriptCall(Operation.ANNOTATE)
                .claim(command.claim())
                .exact(command.seq())
                .bytes(command.text().getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Ends the grant that has a token.
     *
     * @param after the place where the previous call stopped, as it answered; empty at first
     */
    public static ScriptCall force(Command.ForceRelease command, String after) {
        // No token is greater than that, nor can the script count further.
        return new ScriptCall(Operation.FORCE)
                .name(command.resource())
                .number(command.token() > TokenBlock.MAX_TOKEN ? 0 : Math.max(0, command.token()))
                .text(after);
    }

    public static ScriptCall openSession(Command.OpenSession command, long least, String nonce, String client) {
        return new ScriptCall(Operation.OPEN)
                .number(Math.max(least, Micros.of(command.ttl())))
                .text(nonce)
                .text(client)
                .bytes(command.label().getBytes(StandardCharsets.UTF_8));
    }

    public static ScriptCall audit(Command.Audit command, int most) {
        return new ScriptCall(Operation.AUDIT)
                .session(command.session())
                .bytes(command.cursor().orElse("").getBytes(StandardCharsets.UTF_8))
                .number(Math.min(command.limit(), most));
    }

    public static ScriptCall poll(List<ClaimRef> claims) {
        ScriptCall request = new ScriptCall(Operation.POLL).number(claims.size());
        claims.forEach(request::claim);
        return request;
    }

    /** The release of a grant; slotDigits as in {@link BucketLayout#slotDigits()}. */
    public static ScriptCall release(Command.Release command, int slotDigits) {
        return ending(Operation.RELEASE, command.isAnnotated())
                .name(command.resource())
                .reference(command.claim(), slotDigits);
    }

    /** An operation that ends a grant. */
    private static ScriptCall ending(Operation operation, boolean isAnnotated) {
        return isAnnotated
                ? new ScriptCall(Operation.ANNOTATED).text(Character.toString(operation.letter))
                : new ScriptCall(operation);
    }

    public static ScriptCall withdraw(Command.Withdraw command) {
        return new ScriptCall(Operation.WITHDRAW).claim(command.claim());
    }

    public static ScriptCall advance(Command.Advance command) {
        return new ScriptCall(Operation.ADVANCE)
                .claim(command.claim())
                .number(command.blockEnd())
                .number(command.tokens())
                .number(Math.min(Math.max(0, command.atLeast()), TokenBlock.MAX_TOKEN));
    }

    public static ScriptCall shrinkTo(Command.ShrinkTo command) {
        return new ScriptCall(Operation.SHRINK).claim(command.claim()).number(command.weight());
    }

    public static ScriptCall extend(Command.Extend command) {
        return new ScriptCall(Operation.EXTEND)
                .claim(command.claim())
                .exact(command.seq())
                .micros(command.lease());
    }

    public static ScriptCall keepAlive(Command.KeepAlive command) {
        return new ScriptCall(Operation.KEEP_ALIVE).session(command.session()).exact(command.epoch());
    }

    public static ScriptCall retire(Command.Retire command) {
        return new ScriptCall(Operation.RETIRE).session(command.session());
    }

    public static ScriptCall closeSession(Command.CloseSession command) {
        return new ScriptCall(Operation.CLOSE).session(command.session());
    }

    public static ScriptCall setCount(Command.SetCount command) {
        return new ScriptCall(Operation.SET_COUNT)
                .name(command.resource())
                .session(command.session())
                .exact(command.epoch())
                .exact(command.generation())
                .exact(command.count());
    }

    public static ScriptCall countDown(Command.CountDown command) {
        return new ScriptCall(Operation.COUNT_DOWN)
                .name(command.resource())
                .exact(Math.max(0, command.generation()))
                .text(command.id())
                .exact(command.n());
    }

    public static ScriptCall resize(Command.Resize command) {
        return new ScriptCall(Operation.RESIZE)
                .name(command.resource())
                .session(command.session())
                .exact(command.epoch())
                .number(command.capacity());
    }

    /** A claim; slotDigits as in {@link BucketLayout#slotDigits()}. */
    public static ScriptCall acquire(Acquire acquire, int slotDigits) {
        boolean waits = acquire.waiting() == Command.Waiting.QUEUE;
        boolean isSessionBound = acquire.lease().binding() == Lease.Binding.SESSION;
        boolean isOneMutexToken = waits && isSessionBound && isOneMutexToken(acquire);
        Operation operation = isOneMutexToken
                ? Operation.ACQUIRE_MUTEX
                : isSessionBound ? waits ? Operation.ACQUIRE : Operation.TRY : Operation.ACQUIRE_LEASED;
        ScriptCall request = new ScriptCall(operation)
                .name(acquire.claim().resource())
                .owner(acquire.claim().session())
                .reference(acquire.claim(), slotDigits)
                .exact(acquire.epoch());
        if (!isOneMutexToken) {
            request.specAndTokens(acquire);
        }
        if (!isSessionBound) {
            request.lease(acquire.lease()).text(waits ? "q" : "t");
        }
        return request;
    }

    private static boolean isOneMutexToken(Acquire acquire) {
        return acquire.spec().equals(ResourceSpec.MUTEX) && acquire.weight() == 1 && acquire.tokens() == 1;
    }

    /** A grant released in exchange for another claim; slotDigits as in {@link BucketLayout#slotDigits()}. */
    public static ScriptCall yieldFor(Command.Yield yield, int slotDigits) {
        Acquire next = yield.next();
        boolean isSessionBound = next.lease().binding() == Lease.Binding.SESSION;
        ScriptCall request = ending(isSessionBound ? Operation.YIELD : Operation.YIELD_LEASED, yield.isAnnotated())
                .name(yield.claim().resource())
                .owner(yield.claim().session())
                .reference(yield.claim(), slotDigits)
                .reference(next.claim(), slotDigits)
                .exact(next.epoch())
                .specAndTokens(next);
        return isSessionBound ? request : request.lease(next.lease());
    }

    @CanIgnoreReturnValue
    private ScriptCall specAndTokens(Acquire acquire) {
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

    /** The field with the claim's session. */
    private ScriptCall owner(SessionId id) {
        return text("\u00ff" + ours(id));
    }

    /**
     * The prefix of a grant's record, and the slot with its name. Sent ready-made, because building them takes the
     * script longer.
     */
    private ScriptCall reference(ClaimRef claim, int slotDigits) {
        String session = ours(claim.session());
        long number = claim.claim();
        long slot = number % (slotDigits == 1 ? 10 : 1_000);
        String padding = slot < 10 ? "00" : slot < 100 ? "0" : "";
        return text("S " + session + " " + number + " ").text("\u00ffc" + session + " " + padding + slot);
    }

    /** Ids not made by this store are replaced, so that they never become part of a key. */
    private ScriptCall session(SessionId id) {
        return text(ours(id));
    }

    private static String ours(SessionId id) {
        return isOurs(id.value()) ? id.value() : FOREIGN;
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

    /** A number that the script calculates with. */
    private ScriptCall number(long value) {
        return text(Long.toString(value));
    }

    /** A number that may exceed what the script can calculate exactly: 19 digits, compared as text. */
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
