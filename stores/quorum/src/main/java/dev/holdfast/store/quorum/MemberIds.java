package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.spi.SessionId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/*
 * The relation between the quorum's ids and those at the members. A session's id names its sessions at the members, as
 * far as they fit, so that any connection can use it; its label at a member ends with its nonce, by which inspections
 * join the members. Each attempt of a claim uses a new claim number, because a delayed end of an earlier attempt must
 * not end this one; it contains the number of the quorum's claim, so that any connection can find it.
 */

/** Session ids and claim numbers at the members. */
final class MemberIds {

    private static final int MAX_ID = 256;
    private static final int ATTEMPT_BITS = 22;

    /** How many attempts of a claim have distinct numbers at the members. */
    static final int MAX_ATTEMPTS = 1 << (ATTEMPT_BITS - 1);

    /** Set in the number of a repair. */
    private static final long REPAIR = MAX_ATTEMPTS;

    private static final long MOST_PLAIN = 1L << 40;
    private static final long OPAQUE = 1L << 62;
    private static final String MARK = " q:";

    private MemberIds() {}

    static String nonce(long random) {
        return Long.toString((random & (1L << 52) - 1) | 1L << 52, 36);
    }

    static SessionId session(String nonce, @Nullable MemberSession[] at) {
        StringBuilder id = new StringBuilder("q").append(nonce);
        for (MemberSession each : at) {
            id.append(',');
            if (each != null) {
                id.append(each.id.value().replace("%", "%25").replace(",", "%2C"));
            }
        }
        return new SessionId(id.length() <= MAX_ID ? id.toString() : "q" + nonce);
    }

    /** The sessions at the members, one for each member; empty if the id doesn't contain them. */
    static Optional<List<Optional<SessionId>>> members(SessionId id, int count) {
        String[] parts = id.value().split(",", -1);
        if (!id.value().startsWith("q") || parts.length != count + 1) {
            return Optional.empty();
        }
        List<Optional<SessionId>> ids = new ArrayList<>();
        for (int i = 1; i < parts.length; i++) {
            String part = parts[i].replace("%2C", ",").replace("%25", "%");
            ids.add(part.isEmpty() ? Optional.empty() : Optional.of(new SessionId(part)));
        }
        return Optional.of(ids);
    }

    static String nonceOf(SessionId id) {
        int comma = id.value().indexOf(',');
        return comma < 0 ? id.value().substring(1) : id.value().substring(1, comma);
    }

    /** The label of a session at a member, truncated if necessary. */
    static String label(String label, String nonce) {
        String end = MARK + nonce;
        String begin = label;
        while (begin.getBytes(StandardCharsets.UTF_8).length + end.length() > OpenSession.MAX_LABEL_BYTES) {
            begin = begin.substring(0, begin.offsetByCodePoints(begin.length(), -1));
        }
        return begin + end;
    }

    /** The nonce in a label at a member; empty if no quorum wrote it. */
    static Optional<String> nonceIn(String label) {
        int mark = label.lastIndexOf(MARK);
        return mark < 0 ? Optional.empty() : Optional.of(label.substring(mark + MARK.length()));
    }

    static String plainLabel(String label) {
        int mark = label.lastIndexOf(MARK);
        return mark < 0 ? label : label.substring(0, mark);
    }

    /** The claim number of an attempt. */
    static long claim(long claim, int attempt, long random) {
        return claim < MOST_PLAIN ? claim << ATTEMPT_BITS | attempt : OPAQUE | (random >>> 2);
    }

    /** The claim number of a repair; numbers recur after very many repairs. */
    static long repair(long claim, int repair, long random) {
        return claim(claim, repair & (MAX_ATTEMPTS - 1), random) | (claim < MOST_PLAIN ? REPAIR : 0);
    }

    /** Whether this is the number of a repair. */
    static boolean isRepair(long memberClaim) {
        return (memberClaim & OPAQUE) == 0 && (memberClaim & REPAIR) != 0;
    }

    /** The number of the quorum's claim; 0 if it is not contained. */
    static long claimOf(long memberClaim) {
        return (memberClaim & OPAQUE) != 0 ? 0 : memberClaim >>> ATTEMPT_BITS;
    }
}
