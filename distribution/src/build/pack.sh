#!/bin/sh
# Packs the distribution. Two builds of the same files give the same bytes.
#
# usage: pack.sh DIRECTORY TIME
set -eu
cd "$(dirname "$1")"
name=$(basename "$1")
tar --sort=name --mtime="$2" --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -n >"$name.tar.gz.new"
mv "$name.tar.gz.new" "$name.tar.gz"
sha256sum "$name.tar.gz" >"$name.tar.gz.sha256"
