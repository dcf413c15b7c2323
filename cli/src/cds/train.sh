#!/bin/sh
# Makes the class-data archive that lets the command start fast: the JVM maps the classes named in it, instead of loading
# and verifying them each time. Run by ./holdfast after a build.
#
# usage: train.sh JAVA JAR ARCHIVE
set -eu
java=$1 jar=$2 archive=$3

work=$(mktemp -d "${TMPDIR:-/tmp}/holdfast-cds.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# The runs use locks of their own.
export HOLDFAST_STORE="sqlite://$work/locks.db"

# One run of the command, whose classes go into the archive. A run that fails only makes the archive less complete, and one
# that hangs must not keep the user waiting.
limit=
! command -v timeout >/dev/null 2>&1 || limit="timeout 20"
runs=0
train() {
    runs=$((runs + 1))
    # shellcheck disable=SC2086
    $limit "$java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:DumpLoadedClassList="$work/$runs.classes" \
        -Djava.locale.providers=COMPAT -jar "$jar" "$@" </dev/null >/dev/null 2>&1 || true
}

# What users run often, and what runs while someone waits. Add a line for each new command.
train --version
train --help
train run --help
train run cds-training -- true
train run --shared cds-training-shared -- true
train run --permits 1/2 cds-training-permits -- true
train run cds-training -- "$java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:DumpLoadedClassList="$work/taken.classes" \
    -jar "$jar" run --nonblock cds-training -- true
# No server is at hand, but most classes of its driver are loaded before that is found out.
train run --store redis://127.0.0.1:1 cds-training -- true
train run --store postgresql://127.0.0.1:1/cds-training cds-training -- true
train ls
train show cds-training
train show --json cds-training
train release cds-training --force
train completion bash

# The lists of all runs as one. A line that names its source is of another class loader, and the ids count within a run.
cat "$work"/*.classes | sed -e '/^#/d' -e '/ source: /d' -e 's/ id: [0-9]*.*//' | awk '!seen[$0]++' >"$work/classes"

# G1 writes an archive that holds heap objects, and any collector can read it.
"$java" -XX:+UseG1GC -Xshare:dump -XX:SharedClassListFile="$work/classes" -XX:SharedArchiveFile="$work/archive" \
    -cp "$jar" >/dev/null 2>&1
mv "$work/archive" "$archive.$$"
mv "$archive.$$" "$archive" # at once, so that a JVM that starts meanwhile sees all of it or nothing
