package dev.holdfast.store.register;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.SessionId;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Collects what an adapter reports. */
final class Inbox implements RegisterListener {

    private final List<String> mail = new CopyOnWriteArrayList<>();
    private final List<RecordVersion> records = new CopyOnWriteArrayList<>();
    private final Set<SessionId> gone = ConcurrentHashMap.newKeySet();

    @Override
    public void delivered(SessionId session, byte[] content, RecordVersion record) {
        mail.add(session + ": " + new String(content, UTF_8));
        records.add(record);
    }

    @Override
    public void gone(SessionId session) {
        gone.add(session);
    }

    @Override
    public void resubscribed() {
        // A hint to read again; the tests wait for what is pushed.
    }

    /** Whether this came. */
    boolean hasMail(OpenedSession to, String content) {
        return mail.contains(to.id() + ": " + content);
    }

    /** All that came, in order. */
    List<String> mail() {
        return List.copyOf(mail);
    }

    /** The versions that came with it, in order. */
    List<RecordVersion> records() {
        return List.copyOf(records);
    }

    boolean knowsGone(OpenedSession session) {
        return gone.contains(session.id());
    }
}
