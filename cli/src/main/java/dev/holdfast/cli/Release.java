package dev.holdfast.cli;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import java.util.List;
import java.util.Optional;

/** {@code holdfast release NAME --force}. */
final class Release {

    private final StoreLocation location;
    private final Console console;

    Release(StoreLocation location, Console console) {
        this.location = location;
        this.console = console;
    }

    /**
     * Ends what is held now; who comes after that is left alone.
     *
     * @return the exit code
     */
    int run(String name) throws InterruptedException {
        Optional<LockStore> opened = Stores.openToLook(location, console);
        int released = 0;
        if (opened.isPresent()) {
            try (LockStore store = opened.get()) {
                released = releaseAll(store, name);
            }
        }
        if (released == 0) {
            console.say("lock " + Printable.quote(name) + " is not held by anyone");
            return ExitCode.NOTHING_TO_RELEASE;
        }
        return ExitCode.OK;
    }

    private int releaseAll(LockStore store, String name) throws InterruptedException {
        int released = 0;
        for (Party holder :
                Holders.find(store, location, name).map(ResourceInfo::holders).orElse(List.of())) {
            if (holder.tokens().isEmpty()) {
                continue;
            }
            long token = holder.tokens().get().first();
            Reply reply = Stores.ask(store, location, new Command.ForceRelease(new ResourceName(name), token));
            if (reply instanceof Reply.Released) {
                released++;
                console.print("released " + Printable.quote(name) + ", which was held by " + Holders.label(holder)
                        + " with token " + token);
            }
        }
        return released;
    }
}
