#!/bin/sh
# Installs, upgrades and removes the Debian package in a root of its own, which debootstrap makes. Needs root and a mirror
# of Debian. Each step ends with an error if it doesn't do what the package promises.
#
# usage: deb.sh PACKAGE ROOT [MIRROR]
set -eu
package=$1 root=$2 mirror=${3:-http://deb.debian.org/debian}
name=$(dpkg-deb -f "$package" Package)
series=${name#holdfast-}
work=$(mktemp -d)
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$work"' EXIT

step() { echo "== $*"; }
fail() {
    echo "deb.sh: $*" >&2
    exit 1
}
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
install() {
    cp "$1" "$root/tmp/package.deb"
    in_root dpkg -i /tmp/package.deb >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        fail "dpkg could not install $1"
    }
}
# The package with another version or name.
repack() {
    rm -rf "$work/other"
    dpkg-deb -R "$package" "$work/other"
    sed -i -e "s/^Version: .*/Version: $2/" -e "s/^Package: .*/Package: holdfast-$1/" "$work/other/DEBIAN/control"
    if [ "$1" != "$series" ]; then
        sed -i "s|holdfast/$series|holdfast/$1|; s|^series=.*|series=$1|" "$work/other/DEBIAN/postinst" "$work/other/DEBIAN/prerm"
        mv "$work/other/usr/lib/holdfast/$series" "$work/other/usr/lib/holdfast/$1"
        mv "$work/other/usr/share/doc/$name" "$work/other/usr/share/doc/holdfast-$1"
        rm "$work/other/DEBIAN/md5sums"
    fi
    # Another build of the same files.
    touch "$work/other/usr/lib/holdfast/$1/bin/holdfast"
    dpkg-deb --root-owner-group -Znone -b "$work/other" "$work/$1-$2.deb" >/dev/null
}

[ -x "$root/bin/sh" ] || debootstrap --variant=minbase bookworm "$root" "$mirror"
mount -t proc proc "$root/proc" 2>/dev/null || [ -e "$root/proc/self" ] || fail "can't mount /proc in $root"

step "install"
install "$package"
[ "$(in_root holdfast run x -- echo ok)" = ok ] || fail "the command does not run"
in_root test -e /usr/share/man/man1/holdfast.1 || fail "there is no man page"

step "two series side by side: the newest is the command"
repack 0.0 0.0.1
install "$work/0.0-0.0.1.deb"
in_root readlink -f /usr/bin/holdfast | grep -q "/$series/" || fail "0.0 replaced $series"
in_root /usr/lib/holdfast/0.0/bin/holdfast --version >/dev/null || fail "0.0 does not run"

step "upgrade while one command runs and one waits"
mkdir -p "$root/tmp/upgrade"
in_root holdfast run y -- sh -c 'touch /tmp/upgrade/runs; until [ -e /tmp/upgrade/go ]; do sleep 0.1; done; exit 3' &
runs=$!
until [ -e "$root/tmp/upgrade/runs" ]; do sleep 0.1; done
in_root holdfast run y -- sh -c 'exit 4' 2>"$work/waits" &
waits=$!
until grep -q 'waiting for' "$work/waits"; do sleep 0.1; done
repack "$series" 99.0.0
install "$work/$series-99.0.0.deb"
touch "$root/tmp/upgrade/go"
wait "$runs" && code=0 || code=$?
[ "$code" = 3 ] || fail "the command that ran ended with $code"
wait "$waits" && code=0 || code=$?
[ "$code" = 4 ] || fail "the command that waited ended with $code"
[ "$(in_root holdfast run x -- echo ok)" = ok ] || fail "the command does not run after the upgrade"

step "remove"
in_root dpkg -r "$name" >/dev/null
in_root readlink -f /usr/bin/holdfast | grep -q /0.0/ || fail "the other series is not the command now"
in_root dpkg -r holdfast-0.0 >/dev/null
for left in /usr/bin/holdfast /usr/lib/holdfast /usr/share/man/man1/holdfast.1; do
    [ ! -e "$root$left" ] && [ ! -h "$root$left" ] || fail "$left is left"
done
echo "All steps passed."
