package dev.holdfast.store.register.client;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.machine.Facts;
import dev.holdfast.store.register.machine.MailCodec;
import dev.holdfast.store.register.machine.Notice;
import dev.holdfast.store.register.machine.Step;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Delivers the notices of a step: to the sessions of other clients as mail in its write, to those of this client as
 * signals after the write.
 */
final class NoticeDelivery {

    /** Mail that grants a claim includes the state of the record, unless that is longer. */
    private static final int LONGEST_STATE = 4_096;

    /** The same, unless more sessions than this have mail. */
    private static final int MOST_WITH_STATE = 4;

    private static final byte[] NO_STATE = {};

    private NoticeDelivery() {}

    static Map<SessionId, byte[]> mail(Context context, Facts facts, Step step) {
        List<Notice> notices = step.notices();
        if (notices.isEmpty()) {
            return Map.of();
        }
        Map<SessionId, List<Notice>> others = notices.stream()
                .filter(notice -> !context.sessions().isOwn(notice.claim().session()))
                .filter(notice -> !facts.isGone(notice.claim().session()))
                .collect(Collectors.groupingBy(notice -> notice.claim().session()));
        byte[] state = others.size() <= MOST_WITH_STATE ? step.state().orElse(NO_STATE) : NO_STATE;
        byte[] sentState = state.length <= LONGEST_STATE ? state : NO_STATE;
        Map<SessionId, byte[]> mail = new HashMap<>();
        others.forEach((session, ofSession) ->
                mail.put(session, MailCodec.encode(ofSession, hasGrant(ofSession) ? sentState : NO_STATE)));
        return mail;
    }

    private static boolean hasGrant(List<Notice> notices) {
        return notices.stream().anyMatch(notice -> notice.kind() == Notice.Kind.GRANTED);
    }

    /** @param base what the tokens of the step are relative to */
    static void signal(Context context, Step step, long base) {
        for (Notice notice : step.notices()) {
            if (context.sessions().isOwn(notice.claim().session())) {
                context.listeners().accept(MailCodec.signal(notice, base));
            }
        }
    }
}
