package dev.holdfast.cli;

import java.util.List;

/** The texts of the help below the options: examples first, then notes for scripts. */
final class HelpText {

    static final List<String> ROOT = List.of(
            "",
            "Run a script only once at a time; whoever comes second waits, or gives up:",
            "  holdfast run nightly-report -- ./report.sh",
            "  holdfast run --nonblock nightly-report -- ./report.sh",
            "",
            "Look at the locks, and at one of them:",
            "  holdfast ls",
            "  holdfast show nightly-report",
            "",
            "'holdfast COMMAND --help' tells more about each command.");

    static final List<String> RUN = List.of(
            "",
            "The command is run as it stands: no shell, unless you name one (sh -c '...'). Durations are 10s,",
            "1m30s, 500ms, 1.5s, PT10S, or a bare number of seconds.",
            "",
            "Examples:",
            "  holdfast run nightly-report -- ./report.sh          wait as long as it takes",
            "  holdfast run --wait 10s backup -- ./backup.sh       give up after 10 seconds, with exit code 75",
            "  holdfast run --nonblock poll -- ./poll.sh           skip this turn if the last one still runs",
            "  holdfast run --nonblock -E 0 poll -- ./poll.sh      the same, and that is fine (for cron)",
            "  holdfast run --shared site -- ./check.sh            together with others who share",
            "  holdfast run --exclusive site -- ./publish.sh       alone, when none of these runs",
            "  holdfast run --permits 1/3 encode -- ./encode.sh    three at a time",
            "  holdfast run deploy -- sh -c 'git pull && make'     a shell, because you said so",
            "",
            "The environment of the command, besides yours:",
            "  HOLDFAST_NAME      the name of the lock",
            "  HOLDFAST_TOKEN     the fencing token: greater for each holder. What you write to should refuse",
            "                     smaller ones",
            "  HOLDFAST_OWNER     who holds the lock, as 'holdfast show' tells it",
            "  HOLDFAST_DEADLINE  when the lock would end without renewal, as of the start, in Unix seconds",
            "  HOLDFAST_STACK     the locks around the command, outermost first, as name=token with blanks",
            "                     between; the names are percent-encoded",
            "  HOLDFAST_STORE     the store, if you named one, without user names and passwords",
            "",
            "Exit codes:",
            "  0-255  the command's own",
            "  128+N  the command was ended by signal N",
            "  64     this command line is wrong; nothing was touched",
            "  69     the store can't be reached",
            "  75     others kept the lock (see --conflict-exit-code); the command was not run",
            "  78     the store can't be used: access, damage, or the name is in use as something else",
            "  79     the lock was LOST while the command ran, however the command ended",
            "  80     the command ended well, but the release is not confirmed; the lease ends the lock",
            "  126    the command can't be run",
            "  127    the command was not found",
            "",
            "Signals INT, TERM, HUP, USR1 and USR2 are passed on to the command. A second INT or TERM kills it",
            "and all that it started.");

    static final List<String> LS = List.of("", "Examples:", "  holdfast ls", "  holdfast ls --prefix orders/ --json");

    static final List<String> SHOW =
            List.of("", "Examples:", "  holdfast show nightly-report", "  holdfast show nightly-report --json");

    static final List<String> RELEASE = List.of(
            "",
            "The holder is told, but it may be in the midst of its work, and the next one starts at once: both may",
            "write. What they write to is safe only if it checks the fencing token. So --force must be given.",
            "With --token, one that has begun since you looked is left alone. Exit code 1 says that nothing was",
            "released.",
            "",
            "Examples:",
            "  holdfast release nightly-report --force",
            "  holdfast release nightly-report --force --token 1809639016083865");

    static final List<String> MEMBERS = List.of(
            "",
            "A member of a quorum is 'complete' when it has all that a majority holds. One that was away is regained",
            "by the clients, and until then counts as away: wait for it before the next one is stopped.",
            "Exit code 0 says that all members are complete, 1 that one of them isn't.",
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
