package dev.holdfast.cli;

import java.util.List;

/** The texts of the help below the options: examples first, then notes for scripts. */
final class HelpText {

    static final List<String> ROOT = List.of(
            "",
            "Run one instance of a script at a time; a second one waits, or gives up:",
            "  holdfast run nightly-report -- ./report.sh",
            "  holdfast run --nonblock nightly-report -- ./report.sh",
            "",
            "List all locks, or show one, or see all in the browser:",
            "  holdfast ls",
            "  holdfast show nightly-report",
            "  holdfast console",
            "",
            "'holdfast COMMAND --help' describes each command.");

    static final List<String> RUN = List.of(
            "",
            "The command runs as given, without a shell unless you name one (sh -c '...'). Durations are 10s,",
            "1m30s, 500ms, 1.5s, PT10S, or a bare number of seconds.",
            "",
            "Examples:",
            "  holdfast run nightly-report -- ./report.sh          wait without a limit",
            "  holdfast run --wait 10s backup -- ./backup.sh       give up after 10 seconds, with exit code 75",
            "  holdfast run --nonblock poll -- ./poll.sh           skip this run if the last one is still active",
            "  holdfast run --nonblock -E 0 poll -- ./poll.sh      the same, but exit with 0 (for cron)",
            "  holdfast run --shared site -- ./check.sh            together with other shared holders",
            "  holdfast run --exclusive site -- ./publish.sh       alone, when no shared holder is left",
            "  holdfast run --permits 1/3 encode -- ./encode.sh    at most three at a time",
            "  holdfast run deploy -- sh -c 'git pull && make'     in a shell",
            "",
            "The command inherits your environment, and these variables:",
            "  HOLDFAST_NAME      the name of the lock",
            "  HOLDFAST_TOKEN     the fencing token: each new holder gets a greater one. The system you write to",
            "                     should reject smaller ones",
            "  HOLDFAST_OWNER     the holder's label, as in 'holdfast show'",
            "  HOLDFAST_DEADLINE  when the lease expires unless renewed, as of the start, in Unix seconds",
            "  HOLDFAST_STACK     the locks around the command, outermost first, as name=token, separated by",
            "                     blanks; the names are percent-encoded",
            "  HOLDFAST_STORE     the store URI, if you set one, without user name and password",
            "",
            "Exit codes:",
            "  0-255  the command's own",
            "  128+N  the command was ended by signal N",
            "  64     the command line is wrong; nothing was done",
            "  69     the store can't be reached",
            "  75     others held the lock (see --conflict-exit-code); the command was not run",
            "  78     the store can't be used: no access, damage, or the name is in use as another kind of lock",
            "  79     the lock was LOST while the command ran, whatever its own exit code",
            "  80     the command succeeded, but its release is unconfirmed; the lock ends with its lease",
            "  126    the command can't be run",
            "  127    the command was not found",
            "",
            "The signals INT, TERM, HUP, USR1 and USR2 are passed on to the command. A second INT or TERM kills",
            "the command and all its descendants.");

    static final List<String> LS = List.of("", "Examples:", "  holdfast ls", "  holdfast ls --prefix orders/ --json");

    static final List<String> WATCH = List.of(
            "",
            "Each line has the fields of 'holdfast show --json', and the time. A lock that is no longer in use is",
            "'free'. Locks that come and go between two polls are not shown.",
            "",
            "Example:",
            "  holdfast watch --prefix orders/ | jq -r 'select(.state == \"held\") | .name'");

    static final List<String> TOP = List.of(
            "",
            "Keys sort (s, r), filter (/, w, h, a) and move (j, k, n, b); ? lists them, q quits. Lines that begin",
            "with '!' need attention. Without a terminal, the present state is printed once.",
            "",
            "Examples:",
            "  holdfast top",
            "  ssh -t app-1 holdfast top");

    static final List<String> CONSOLE = List.of(
            "",
            "The link that is printed opens the page once, within five minutes; press Enter for a new one. The page",
            "is served on this machine only. From another one, use a tunnel with the same port at both ends:",
            "  ssh -L 7700:localhost:7700 HOST holdfast console --port 7700",
            "",
            "With --proxy-host, a proxy on this machine can offer the page under its own name; it has to encrypt,",
            "and should authenticate.",
            "",
            "Examples:",
            "  holdfast console",
            "  holdfast console --read-only --port 7700");

    static final List<String> CONFIG = List.of(
            "",
            "A setting is read from its variable. If that is unset or empty, it is read from the first of these",
            "files that exists, as a line such as HOLDFAST_STORE=redis://redis.example.com:",
            "  $XDG_CONFIG_HOME/holdfast/config    (by default ~/.config/holdfast/config)",
            "  /etc/holdfast/config",
            "An option takes precedence over both.");

    static final List<String> SHOW =
            List.of("", "Examples:", "  holdfast show nightly-report", "  holdfast show nightly-report --json");

    static final List<String> RUNS = List.of(
            "",
            "A program's scheduled tasks (holdfast.task, @ScheduledLock) record when each run began and ended, how,",
            "and where. The last ten of each task are kept. 'holdfast run' records nothing.",
            "",
            "Examples:",
            "  holdfast runs nightly-report",
            "  holdfast runs nightly-report --json");

    static final List<String> RELEASE = List.of(
            "",
            "The holder is notified, but may be in the middle of its work, and the next holder starts at once:",
            "both may write. This is safe only if the system they write to checks fencing tokens, so --force",
            "is required. With --token, a hold that began after your check is left alone. Exit code 1 means",
            "that nothing was released.",
            "",
            "Examples:",
            "  holdfast release nightly-report --force",
            "  holdfast release nightly-report --force --token 1809639016083865");

    static final List<String> MEMBERS = List.of(
            "",
            "A member of a quorum is 'complete' when it has every hold that a majority has. Clients repair a",
            "member that was away; until it is complete, it counts as away. Wait for that before you stop the",
            "next member.",
            "Exit code 0 means that all members are complete, 1 that at least one is not.",
            "",
            "Example:",
            "  until holdfast members; do sleep 5; done");

    static final List<String> COMPLETION = List.of(
            "",
            "Examples:",
            "  source <(holdfast completion bash)       in ~/.bashrc",
            "  source <(holdfast completion zsh)        in ~/.zshrc, after compinit");

    private HelpText() {}
}
