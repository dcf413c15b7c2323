package dev.holdfast.store.register.machine;

import dev.holdfast.spi.Command.RecordRun;
import dev.holdfast.spi.Reply.Runs.Run;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.machine.Input.Malformed;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Codec of histories: the newest runs of a scheduled task, by falling tokens. */
public final class RunCodec {

    private static final int VERSION = 1;

    private RunCodec() {}

    /**
     * Decodes a history.
     *
     * @return empty if a newer version wrote it
     * @throws StoreException if it is damaged
     */
    public static Optional<List<Run>> decode(ResourceName task, byte[] content) {
        try {
            Input in = new Input(content);
            if (in.octet() > VERSION) {
                return Optional.empty();
            }
            List<Run> runs = new ArrayList<>();
            for (int left = in.number(0, RecordRun.KEPT); left > 0; left--) {
                runs.add(new Run(in.number(), in.text()));
            }
            in.end();
            return Optional.of(runs);
        } catch (Malformed e) {
            throw new StoreException(
                    StoreException.Reason.CORRUPT,
                    StoreException.Effect.NONE,
                    "the history of task '" + task + "' was not written by Holdfast or is damaged: " + e.getMessage(),
                    e);
        }
    }

    /** A history with one more run. */
    public static byte[] encode(List<Run> before, RecordRun added) {
        List<Run> runs = new ArrayList<>(before);
        runs.removeIf(run -> run.token() == added.token());
        runs.add(new Run(added.token(), added.run()));
        runs.sort(Comparator.comparingLong(Run::token).reversed());
        List<Run> kept = runs.subList(0, Math.min(RecordRun.KEPT, runs.size()));
        Output out = new Output();
        out.octet(VERSION);
        out.number(kept.size());
        for (Run run : kept) {
            out.number(run.token());
            out.text(run.text());
        }
        return out.toBytes();
    }
}
