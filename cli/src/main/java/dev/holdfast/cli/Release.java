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

    /** Reads the value of {@code --token}, or a usage error. */
    static long token(String text) {
        try {
            long token = Long.parseLong(text);
            if (token > 0) {
                return token;
            }
        } catch (NumberFormatException e) {
            // Told below.
        }
        throw CliException.usage("--token takes a fencing token, a positive number, but got '" + Printable.escape(text)
                + "'; 'holdfast show' tells it");
    }

    /**
     * Ends the hold that has a token, and leaves a later one alone.
     *
     * @return the exit code
     */
    int run(String name, long token) throws InterruptedException {
        Optional<LockStore> opened = Stores.openToLook(location, console);
        if (opened.isPresent()) {
            try (LockStore store = opened.get()) {
                Reply reply = Stores.ask(store, location, new Command.ForceRelease(new ResourceName(name), token));
                if (reply instanceof Reply.Released) {
                    console.print("released " + Printable.quote(name) + ", which was held with token " + token);
                    return ExitCode.OK;
                }
                String present = Holders.find(store, location, name)
                        .map(info -> Holders.describe(info, store.traits().tokenSource())
                                + info.holders().stream()
                                        .findFirst()
                                        .flatMap(Party::tokens)
                                        .map(block -> ", token " + block.first())
                                        .orElse(""))
                        .orElse("free");
                console.say("lock " + Printable.quote(name) + " is not held with token " + token + ": it is " + present
                        + "; nothing was changed");
                return ExitCode.NOTHING_TO_RELEASE;
            }
        }
        console.say("lock " + Printable.quote(name) + " is not held by anyone");
        return ExitCode.NOTHING_TO_RELEASE;
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
