package dev.holdfast.cli;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Json;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.cli.store.StoreLocation;
import dev.holdfast.cli.store.Stores;
import dev.holdfast.spi.LockStore;
import dev.holdfast.store.quorum.MemberStatus;
import dev.holdfast.store.quorum.QuorumStore;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** {@code holdfast members}: the state of the members of a quorum. */
final class Members {

    private final StoreLocation location;
    private final Console console;

    Members(StoreLocation location, Console console) {
        this.location = location;
        this.console = console;
    }

    /**
     * Prints a line for each member.
     *
     * @return the exit code, which says whether all of them are complete
     */
    int run(boolean json) throws InterruptedException {
        if (!location.uri().scheme().equals("quorum")) {
            throw CliException.usage("only a quorum has members, and " + location + " is not one");
        }
        LockStore store = Stores.open(location);
        try {
            List<MemberStatus> all = ask((QuorumStore) store);
            if (json) {
                console.print(json(all));
            } else {
                all.forEach(each -> console.print(Printable.escape(each.name()) + ": " + inWords(each)));
            }
            return all.stream().allMatch(MemberStatus::isComplete) ? ExitCode.OK : ExitCode.MEMBERS_INCOMPLETE;
        } finally {
            Stores.close(Stores.CLOSE_TIME, store);
        }
    }

    private List<MemberStatus> ask(QuorumStore quorum) throws InterruptedException {
        try {
            return quorum.members().toCompletableFuture().get(location.timeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw new IllegalStateException("The store " + location + " failed: " + e.getCause(), e);
        } catch (TimeoutException e) {
            throw new CliException(
                    ExitCode.STORE_UNAVAILABLE,
                    "the members of " + location + " did not answer within " + DurationText.format(location.timeout()),
                    e);
        }
    }

    private static String inWords(MemberStatus member) {
        if (member.problem().isPresent()) {
            return "away: " + Printable.escape(member.problem().get());
        }
        String holds = ", has " + member.present() + " of " + (member.present() + member.missing()) + " holds";
        if (!member.keptOutFor().isZero()) {
            return "kept out for another " + DurationText.format(member.keptOutFor()) + ", because it lost its data"
                    + holds;
        }
        return (member.isComplete() ? "complete" : "counts") + holds;
    }

    private static String json(List<MemberStatus> all) {
        Json json = new Json().beginArray();
        for (MemberStatus member : all) {
            json.beginObject().field("member", member.name()).field("state", state(member));
            member.problem().ifPresent(problem -> json.field("problem", problem));
            json.field("keptOutMillis", member.keptOutFor().toMillis())
                    .field("held", member.present())
                    .field("missing", member.missing())
                    .endObject();
        }
        return json.endArray().toString();
    }

    private static String state(MemberStatus member) {
        if (member.problem().isPresent()) {
            return "away";
        } else if (!member.keptOutFor().isZero()) {
            return "kept out";
        }
        return member.isComplete() ? "complete" : "counts";
    }
}
