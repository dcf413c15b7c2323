package dev.holdfast.cli;

import dev.holdfast.admin.LockAdmin;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.cli.store.Holders;
import dev.holdfast.cli.store.StoreLocation;
import dev.holdfast.cli.store.Stores;
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
     * Ends the present holds, and no later ones.
     *
     * @return the exit code
     */
    int run(String name) throws InterruptedException {
        int released =
                Stores.ask(location, console, admin -> releaseAll(admin, name)).orElse(0);
        return released == 0 ? nothing(name) : ExitCode.OK;
    }

    /** The value of {@code --token}, checked. */
    static long token(String text) {
        try {
            long token = Long.parseLong(text);
            if (token > 0) {
                return token;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw CliException.usage("--token takes a fencing token, a positive number, but got '" + Printable.escape(text)
                + "'; 'holdfast show' prints it");
    }

    /**
     * Ends the hold with a token, and no later one.
     *
     * @return the exit code
     */
    int run(String name, long token) throws InterruptedException {
        Optional<Integer> code = Stores.ask(location, console, admin -> release(admin, name, token));
        return code.isEmpty() ? nothing(name) : code.get();
    }

    private int nothing(String name) {
        console.say("lock " + Printable.quote(name) + " is not held by anyone");
        return ExitCode.NOTHING_TO_RELEASE;
    }

    private int release(LockAdmin admin, String name, long token) {
        if (admin.forceRelease(name, token)) {
            console.print("released " + Printable.quote(name) + ", which was held with token " + token);
            return ExitCode.OK;
        }
        String present = admin.inspect(name).map(Release::withToken).orElse("free");
        console.say("lock " + Printable.quote(name) + " is not held with token " + token + ": it is " + present
                + "; nothing was changed");
        return ExitCode.NOTHING_TO_RELEASE;
    }

    private static String withToken(LockInfo info) {
        long token = info.holders().isEmpty() ? 0 : info.holders().get(0).token();
        return Holders.describe(info) + (token == 0 ? "" : ", token " + token);
    }

    private int releaseAll(LockAdmin admin, String name) {
        int released = 0;
        for (LockInfo.Holder holder : admin.inspect(name).map(LockInfo::holders).orElse(List.of())) {
            if (holder.token() > 0 && admin.forceRelease(name, holder.token())) {
                released++;
                console.print("released " + Printable.quote(name) + ", which was held by "
                        + Holders.label(holder.label()) + " with token " + holder.token());
            }
        }
        return released;
    }
}
