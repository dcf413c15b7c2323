#!/bin/sh
# Writes the man page, from the help of the command: one section for each subcommand.
#
# usage: man.sh COMMAND
set -eu
holdfast=$1

# Text as it stands: a backslash, and a dot or quote at the beginning of a line, mean something to man.
literally() {
    printf '.nf\n'
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\\([.']\\)/\\\\\&\\1/"
    printf '.fi\n'
}

version=$("$holdfast" --version)
printf '.TH HOLDFAST 1 "" "%s" "User Commands"\n' "$version"
printf '.SH NAME\nholdfast \\- run commands under locks that hold across processes and machines\n'
printf '.SH SYNOPSIS\n.nf\n'
printf 'holdfast run [OPTIONS] NAME \\-\\- COMMAND [ARGUMENT...]\nholdfast COMMAND [OPTIONS]\n.fi\n.SH DESCRIPTION\n'
"$holdfast" --help | literally
for command in run ls show release watch top console members config completion; do
    printf '.SH "HOLDFAST %s"\n' "$(printf %s "$command" | tr '[:lower:]' '[:upper:]')"
    "$holdfast" "$command" --help | literally
done
cat <<'END'
.SH FILES
.TP
.I ~/.config/holdfast/config, /etc/holdfast/config
Settings that the environment lacks.
.TP
.I ~/.local/share/holdfast/drivers
Drivers of MySQL and MariaDB.
.SH SEE ALSO
.BR flock (1)
END
