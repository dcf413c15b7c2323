package dev.holdfast.store.etcd.rpc;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * What a watch stream tells.
 *
 * @param watch which watch it is about; -1 for all
 * @param isCreated whether it answers that the watch was made
 * @param isCanceled whether the watch has ended
 * @param reason why it has ended
 */
public record WatchAnswer(long watch, boolean isCreated, boolean isCanceled, String reason, List<Event> events) {

    /** A change of a key. */
    public record Event(boolean isDeletion, KeyValue key) {

        static Event of(MessageReader message) {
            boolean isDeletion = false;
            KeyValue key = new KeyValue(new byte[0], new byte[0], 0, 0);
            for (int field = message.next(); field != 0; field = message.next()) {
                switch (field) {
                    case 1 -> isDeletion = message.flag();
                    case 2 -> key = KeyValue.of(message.message());
                    default -> {}
                }
            }
            return new Event(isDeletion, key);
        }
    }

    static WatchAnswer of(MessageReader message) {
        long watch = 0;
        boolean isCreated = false;
        boolean isCanceled = false;
        String reason = "";
        List<Event> events = new ArrayList<>();
        for (int field = message.next(); field != 0; field = message.next()) {
            switch (field) {
                case 2 -> watch = message.number();
                case 3 -> isCreated = message.flag();
                case 4 -> isCanceled = message.flag();
                case 6 -> reason = new String(message.bytes(), StandardCharsets.UTF_8);
                case 11 -> events.add(Event.of(message.message()));
                default -> {}
            }
        }
        return new WatchAnswer(watch, isCreated, isCanceled, reason, events);
    }
}
