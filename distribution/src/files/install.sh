#!/bin/sh
# Installs this directory as PREFIX/lib/holdfast-VERSION, with links in PREFIX/bin and PREFIX/share. Other versions stay
# installed, and running commands keep theirs.
#
# usage: install.sh [--prefix DIRECTORY]     (default: /usr/local as root, otherwise ~/.local)
set -eu

die() {
    echo "install.sh: $*" >&2
    exit 64
}

if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
while [ $# -gt 0 ]; do
    case $1 in
        --prefix=*) prefix=${1#--prefix=} ;;
        --prefix)
            [ $# -gt 1 ] || die "--prefix needs a directory"
            shift
            prefix=$1
            ;;
        *) die "unknown argument '$1'; usage: install.sh [--prefix DIRECTORY]" ;;
    esac
    shift
done
[ -n "$prefix" ] || die "--prefix needs a directory"

from=$(cd -P -- "$(dirname -- "$0")" && pwd)
mkdir -p "$prefix"
prefix=$(cd -P -- "$prefix" && pwd)
version=$("$from/bin/holdfast" --version)
target=$prefix/lib/holdfast-${version#holdfast }

if [ "$from" != "$target" ]; then
    # Replaced in one step, so that running commands of the same version are not disturbed.
    mkdir -p "$prefix/lib"
    new=$target.new.$$
    trap 'rm -rf "$new"' EXIT
    cp -R "$from" "$new"
    old=
    if [ -e "$target" ]; then
        old=$target.old.$$
        mv "$target" "$old"
    fi
    mv "$new" "$target"
    [ -z "$old" ] || rm -rf "$old"
fi

link() {
    mkdir -p "$(dirname "$2")"
    ln -sf "$1" "$2"
}
link "$target/bin/holdfast" "$prefix/bin/holdfast"
(cd "$target/share" && find bash-completion zsh fish man -type f) | while IFS= read -r file; do
    link "$target/share/$file" "$prefix/share/$file"
done

echo "Installed $version: $prefix/bin/holdfast"
case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "Add $prefix/bin to your PATH to run it as holdfast." ;;
esac
