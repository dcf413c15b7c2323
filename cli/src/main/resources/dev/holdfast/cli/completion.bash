# Completion of the holdfast command, for bash and for zsh (after compinit).
#
#   source <(holdfast completion bash)

if [[ -n ${ZSH_VERSION-} ]]; then
    autoload -U +X bashcompinit && bashcompinit
fi

# Fills COMPREPLY with those words of a list, separated by newlines, that begin with the word at the cursor.
_holdfast_words() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do
        [[ -n $word && $word == "$current"* ]] && COMPREPLY+=("$word")
    done <<<"$1"
}

# Names of locks that are held or waited for: a look at the store, so only when a name is wanted. Names with anything that a
# shell would read in its own way, or take for the end of a word, are left out.
_holdfast_names() {
    _holdfast_words "$(holdfast ls 2>/dev/null | sed -n "s/^'\([A-Za-z0-9_./%+-][A-Za-z0-9_./%+-]*\)': .*/\1/p")"
}

_holdfast_files() {
    COMPREPLY=($(compgen -f -- "$current"))
}

# What may follow an option; fails if the option takes no value.
_holdfast_value() {
    case $1 in
        --store) _holdfast_words $'sqlite:\nmemory:' ;;
        --wait | -w | --lease | --grace) _holdfast_words $'10s\n30s\n1m\n5m\n1h' ;;
        --permits) _holdfast_words $'1/2\n1/3\n1/4\n1/8' ;;
        --on-lost) _holdfast_words $'term\nkill\nignore\nexec:' ;;
        --leftovers) _holdfast_words $'wait\nkill\nignore' ;;
        --conflict-exit-code | -E) _holdfast_words $'0\n1\n75' ;;
        --interval) _holdfast_words $'1s\n5s\n30s' ;;
        --command | -c | --message | --port | --proxy-host) _holdfast_words '' ;;
        --prefix) _holdfast_names ;;
        *) return 1 ;;
    esac
}

_holdfast_options() {
    case $1 in
        run)
            _holdfast_words $'--store\n--wait\n--nonblock\n--shared\n--exclusive\n--permits\n--lease\n--on-lost\n--grace\n--leftovers\n--conflict-exit-code\n--message\n--command\n--no-stdin\n--verbose\n--help'
            ;;
        ls) _holdfast_words $'--store\n--prefix\n--json\n--help' ;;
        show | runs) _holdfast_words $'--store\n--json\n--help' ;;
        release) _holdfast_words $'--store\n--force\n--token\n--help' ;;
        watch) _holdfast_words $'--store\n--prefix\n--interval\n--help' ;;
        top) _holdfast_words $'--store\n--help' ;;
        console) _holdfast_words $'--store\n--port\n--read-only\n--proxy-host\n--no-browser\n--help' ;;
        members | config) _holdfast_words $'--store\n--json\n--help' ;;
        completion) _holdfast_words '--help' ;;
    esac
}

# Behind "--" stands a command line of its own: its first word is a command, the others are what its own completion says, or files.
_holdfast_command() {
    local first=$1
    if ((COMP_CWORD == first)); then
        COMPREPLY=($(compgen -c -- "$current"))
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$first"
    else
        _holdfast_files
    fi
}

_holdfast() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} subcommand=${COMP_WORDS[1]-} i name=
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _holdfast_words $'run\nls\nshow\nruns\nrelease\nwatch\ntop\nconsole\nmembers\nconfig\ncompletion\n--help\n--version'
        return
    fi
    if [[ $subcommand == run ]]; then
        for ((i = 2; i < COMP_CWORD; i++)); do
            if [[ ${COMP_WORDS[i]} == -- ]]; then
                _holdfast_command $((i + 1))
                return
            fi
        done
    fi
    _holdfast_value "$previous" && return
    if [[ $current == -* ]]; then
        _holdfast_options "$subcommand"
        return
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --store | --wait | -w | --permits | --lease | --grace | --on-lost | --leftovers | --conflict-exit-code | -E | --command | -c | --prefix | --interval | --token | --message | --port | --proxy-host) i=$((i + 1)) ;;
            -*) ;;
            *) name=${COMP_WORDS[i]} ;;
        esac
    done
    case $subcommand in
        run)
            if [[ -n $name ]]; then
                _holdfast_words '--'
            else
                _holdfast_names
            fi
            ;;
        show | runs | release) [[ -n $name ]] || _holdfast_names ;;
        completion) [[ -n $name ]] || _holdfast_words $'bash\nzsh\nfish' ;;
    esac
}

complete -F _holdfast holdfast
