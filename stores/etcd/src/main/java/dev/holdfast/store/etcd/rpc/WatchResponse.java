package dev.holdfast.store.etcd.rpc;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A message of a watch stream.
 *
 * @param watchId the watch; -1 for all
 * @param isCreated whether it confirms that the watch was created
 * @param isCanceled whether the watch has ended
 * @param reason why the watch has ended
 */
public record WatchResponse(long watchId, boolean isCreated, boolean isCanceled, String reason, List<Event> events) {

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

    static WatchResponse of(MessageReader message) {
        long watchId = 0;
        boolean isCreated = false;
        boolean isCanceled = false;
        String reason = "";
        List<Event> events = new ArrayList<>();
        for (int field = message.next(); field != 0; field = message.next()) {
            switch (field) {
                case 2 -> watchId = message.number();
                case 3 -> isCreated = message.flag();
                case 4 -> isCanceled = message.flag();
                case 6 -> reason = new String(message.bytes(), StandardCharsets.UTF_8);
                case 11 -> events.add(Event.of(message.message()));
                default -> {}
            }
        }
        return new WatchResponse(watchId, isCreated, isCanceled, reason, events);
    }
}
