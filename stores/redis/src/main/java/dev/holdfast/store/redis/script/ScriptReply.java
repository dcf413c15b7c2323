package dev.holdfast.store.redis.script;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Reply.ClaimReply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Refusals;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The script's answer to one command: a letter and its values. */
public final class ScriptReply {

    private static final List<?> NONSENSE = List.of("");

    private final List<?> parts;
    private final boolean more;
    private final long replicas;

    private ScriptReply(List<?> parts, boolean more, long replicas) {
        this.parts = parts;
        this.more = more;
        this.replicas = replicas;
    }

    /**
     * Reads the script's answer to a call: lines of words if all answers consist of words; otherwise a list with
     * whether more was due than the script ended, and then the answers.
     *
     * @param replicas how many replicas have it, if asked
     * @return an answer for each command; empty if the reply has another form
     */
    public static List<ScriptReply> read(List<?> answers, int commands, long replicas) {
        List<ScriptReply> all = new ArrayList<>(commands);
        if (answers.size() == 1 && answers.get(0) instanceof byte[] lines) {
            int from = 0;
            for (int at = 0; at <= lines.length; at++) {
                if (at == lines.length || lines[at] == '\n') {
                    all.add(new ScriptReply(words(lines, from, at), false, replicas));
                    from = at + 1;
                }
            }
        } else if (answers.size() == commands + 1) {
            boolean more = !Long.valueOf(0).equals(answers.get(0));
            for (int i = 1; i <= commands; i++) {
                all.add(new ScriptReply(parts(answers.get(i)), more, replicas));
            }
        }
        return all.size() == commands ? all : List.of();
    }

    private static List<?> parts(@Nullable Object answer) {
        if (answer instanceof byte[] line) {
            return words(line, 0, line.length);
        }
        return answer instanceof List<?> list ? list : NONSENSE;
    }

    /** A letter, and numbers. */
    private static List<Object> words(byte[] line, int from, int to) {
        List<Object> words = new ArrayList<>(5);
        if (from < to) {
            words.add(new byte[] {line[from]});
        }
        int at = from + 1;
        while (at < to) {
            at++;
            boolean isNegative = at < to && line[at] == '-';
            long number = 0;
            for (at += isNegative ? 1 : 0; at < to && line[at] != ' '; at++) {
                number = number * 10 + (line[at] - '0');
            }
            words.add(isNegative ? -number : number);
        }
        return words;
    }

    /** How many replicas have the command's effect, if they were asked. */
    public long replicas() {
        return replicas;
    }

    /** Whether there is more to end, because it expired or its session was closed. */
    public boolean more() {
        return more;
    }

    private char letter() {
        return text(0).charAt(0);
    }

    /** Whether it is not an answer of the script at all. */
    public boolean isNonsense() {
        return parts == NONSENSE;
    }

    /** Whether the command failed in the script; the others of the same call did not. */
    public boolean isFailure() {
        return !parts.isEmpty() && parts.get(0) instanceof byte[] && letter() == 'E';
    }

    /** The script's error message. */
    public String failure() {
        return text(1);
    }

    /** Whether the command had written something before it failed. */
    public boolean hadEffect() {
        return number(2) != 0;
    }

    public Reply reply(Command command) {
        if (command instanceof Command.Audit audit) {
            return audited(audit.session());
        }
        return switch (letter()) {
            case 'D' -> new Reply.Done();
            case 'R' -> new Reply.Released();
            case 'L' -> new Reply.SessionAlive();
            case 'O' -> new Reply.SessionOpened(new SessionId(text(1)), Micros.duration(number(2)));
            case 'V' -> new Reply.Advanced(new TokenBlock(number(1), number(2)), number(3) != 0);
            case 'T' -> new Reply.Extended(Long.parseLong(text(1)), Micros.duration(number(2)));
            case 'H' -> new Reply.Runs(part(1).runs());
            case 'N' -> new Reply.Count(Long.parseLong(text(1)), Long.parseLong(text(2)));
            default -> state();
        };
    }

    /** The state of a claim. */
    public ClaimReply state() {
        return switch (letter()) {
            case 'G' -> granted();
            case 'Q' -> new Reply.Queued(Micros.duration(number(1)));
            case 'A' -> new Reply.Absent();
            case 'X' -> new Reply.SessionEnded();
            case 'S' -> new Reply.Stale();
            case 'U' -> new Reply.Unsupported("its fencing tokens are exhausted");
            case 'F' -> refused();
            default -> throw new IllegalStateException("The script returned the unknown reply '" + letter() + "'");
        };
    }

    /**
     * The last token is omitted if it equals the first; the lease and the waiting flag are omitted together with it.
     */
    private Reply.Granted granted() {
        TokenBlock tokens = new TokenBlock(number(1), number(parts.size() > 2 ? 2 : 1));
        boolean isSessionBound = parts.size() < 4 || number(3) < 0;
        return new Reply.Granted(
                tokens,
                isSessionBound ? Optional.empty() : Optional.of(Micros.duration(number(3))),
                parts.size() > 4 && number(4) != 0);
    }

    /** The states of the claims of a poll. */
    public List<ClaimReply> states() {
        return each().stream().map(ScriptReply::state).toList();
    }

    /** The answers for each subject of one command. */
    public List<ScriptReply> each() {
        List<ScriptReply> answers = new ArrayList<>(parts.size());
        for (int i = 0; i < parts.size(); i++) {
            answers.add(part(i));
        }
        return answers;
    }

    private Reply.Refused refused() {
        return switch (text(1).charAt(0)) {
            case 'm' -> Refusals.mismatch(spec(text(2)));
            case 'h' -> Refusals.tooHeavy(number(2), number(3));
            case 't' -> Refusals.heldBy(utf8(2), number(3), number(4));
            case 'w' -> number(2) != 0 ? Refusals.LATCH_CLOSED : Refusals.OTHERS_WAIT;
            default -> Refusals.OUT_OF_TOKENS;
        };
    }

    private Reply.Audited audited(SessionId session) {
        List<ClaimRef> grants = new ArrayList<>();
        List<ClaimRef> waiting = new ArrayList<>();
        for (int i = 2; i < parts.size(); i += 3) {
            ClaimRef claim = new ClaimRef(new ResourceName(utf8(i + 1)), session, Long.parseLong(text(i + 2)));
            (number(i) != 0 ? grants : waiting).add(claim);
        }
        String cursor = utf8(1);
        return new Reply.Audited(grants, waiting, cursor.isEmpty() ? Optional.empty() : Optional.of(cursor));
    }

    /** The report on a resource; empty if it is not in use. */
    public Optional<ResourceInfo> info(ResourceName name) {
        if (letter() != 'I') {
            return Optional.empty();
        }
        ResourceSpec declared = spec(text(1));
        return Optional.of(new ResourceInfo(
                name,
                new ResourceSpec(declared.kind(), (int) number(2), declared.order()),
                declared.capacity(),
                part(7).parties(name),
                number(3),
                number(4),
                part(8).parties(name),
                number(5),
                number(6)));
    }

    /** Where the next part of a list begins, as the server's cursor. */
    public String cursor() {
        return text(0);
    }

    /** The names in a part of a list. */
    public List<byte[]> names() {
        return parts.subList(1, parts.size()).stream().map(byte[].class::cast).toList();
    }

    /** The place of a holder behind which the next call continues; empty if there is nothing left. */
    public Optional<String> rest() {
        return switch (letter()) {
            case 'I' -> parts.size() > 9 ? Optional.of(text(9)) : Optional.empty();
            case 'Y' -> Optional.of(text(1));
            default -> Optional.empty();
        };
    }

    /** Whether a resource was skipped, because the call had already reported its maximum. */
    public boolean isLeftOut() {
        return letter() == 'L';
    }

    private List<Reply.Runs.Run> runs() {
        List<Reply.Runs.Run> runs = new ArrayList<>();
        for (int i = 0; i < parts.size(); i += 2) {
            runs.add(new Reply.Runs.Run(Long.parseLong(text(i)), utf8(i + 1)));
        }
        runs.sort(Comparator.comparingLong(Reply.Runs.Run::token).reversed());
        return runs;
    }

    private List<Party> parties(ResourceName name) {
        List<Party> parties = new ArrayList<>();
        for (int i = 0; i < parts.size(); i += 10) {
            parties.add(new Party(
                    new ClaimRef(name, new SessionId(text(i)), Long.parseLong(text(i + 1))),
                    utf8(i + 2),
                    (int) number(i + 3),
                    number(i + 4) == 0 ? Optional.empty() : Optional.of(new TokenBlock(number(i + 4), number(i + 5))),
                    Micros.duration(number(i + 6)),
                    Micros.duration(number(i + 7)),
                    number(i + 8) < 0 ? Optional.empty() : Optional.of(Micros.duration(number(i + 8))),
                    utf8(i + 9)));
        }
        return parties;
    }

    private static ResourceSpec spec(String recorded) {
        return new ResourceSpec(
                Kind.ofCode(recorded.charAt(0)),
                Integer.parseInt(recorded.substring(2)),
                recorded.charAt(1) == 'b' ? Order.BARGING : Order.FAIR);
    }

    private ScriptReply part(int index) {
        return new ScriptReply(parts(parts.get(index)), more, replicas);
    }

    private long number(int index) {
        return (Long) parts.get(index);
    }

    private String text(int index) {
        return new String((byte[]) parts.get(index), StandardCharsets.US_ASCII);
    }

    private String utf8(int index) {
        return new String((byte[]) parts.get(index), StandardCharsets.UTF_8);
    }
}
