# Completion of the holdfast command, for fish.
#
#   holdfast completion fish | source

# Whether the cursor is behind this subcommand, and not behind "--".
function __holdfast_after
    set -l words (commandline -opc)
    set -q words[2]; and test "$words[2]" = "$argv[1]"; and not contains -- -- $words
end

# Names of locks that are held or waited for. The shell quotes what needs it.
function __holdfast_names
    holdfast ls 2>/dev/null | string replace -rf "^'([^'\\\\]+)': .*" '$1'
end

# Behind "--" stands a command line of its own.
function __holdfast_command
    set -l words (commandline -opc)
    set -l dashes (contains -i -- -- $words); or return
    set -l behind
    if test $dashes -lt (count $words)
        set behind (string escape -- $words[(math $dashes + 1)..-1])
    end
    complete -C (string join ' ' -- $behind (commandline -ct))
end

complete -c holdfast -f
complete -c holdfast -n 'test (count (commandline -opc)) -eq 1' -a 'run ls show runs release watch top console members config completion'
complete -c holdfast -n 'test (count (commandline -opc)) -eq 1' -s h -l help
complete -c holdfast -n 'test (count (commandline -opc)) -eq 1' -s V -l version
complete -c holdfast -n 'contains -- -- (commandline -opc)' -a '(__holdfast_command)'

for command in run ls show runs release watch top console members config
    complete -c holdfast -n "__holdfast_after $command" -l store -xa 'sqlite: memory:'
end
for command in run ls show runs release watch top console members config completion
    complete -c holdfast -n "__holdfast_after $command" -s h -l help
end
for command in ls show runs members config
    complete -c holdfast -n "__holdfast_after $command" -l json
end
for command in run show runs release
    complete -c holdfast -n "__holdfast_after $command" -a '(__holdfast_names)'
end
for command in ls watch
    complete -c holdfast -n "__holdfast_after $command" -l prefix -xa '(__holdfast_names)'
end
complete -c holdfast -n '__holdfast_after watch' -l interval -xa '1s 5s 30s'
complete -c holdfast -n '__holdfast_after console' -l port -x
complete -c holdfast -n '__holdfast_after console' -l read-only
complete -c holdfast -n '__holdfast_after console' -l proxy-host -x
complete -c holdfast -n '__holdfast_after console' -l no-browser
complete -c holdfast -n '__holdfast_after release' -l force
complete -c holdfast -n '__holdfast_after release' -l token -x
complete -c holdfast -n '__holdfast_after completion' -a 'bash zsh fish'

complete -c holdfast -n '__holdfast_after run' -s w -l wait -xa '10s 30s 1m 5m 1h'
complete -c holdfast -n '__holdfast_after run' -s n -l nonblock
complete -c holdfast -n '__holdfast_after run' -s s -l shared
complete -c holdfast -n '__holdfast_after run' -s x -l exclusive
complete -c holdfast -n '__holdfast_after run' -l permits -xa '1/2 1/3 1/4 1/8'
complete -c holdfast -n '__holdfast_after run' -l lease -xa '10s 30s 1m 5m 1h'
complete -c holdfast -n '__holdfast_after run' -l on-lost -xa 'term kill ignore exec:'
complete -c holdfast -n '__holdfast_after run' -l grace -xa '10s 30s 1m'
complete -c holdfast -n '__holdfast_after run' -l leftovers -xa 'wait kill ignore'
complete -c holdfast -n '__holdfast_after run' -s E -l conflict-exit-code -xa '0 1 75'
complete -c holdfast -n '__holdfast_after run' -l message -x
complete -c holdfast -n '__holdfast_after run' -s c -l command -x
complete -c holdfast -n '__holdfast_after run' -l no-stdin
complete -c holdfast -n '__holdfast_after run' -l verbose
