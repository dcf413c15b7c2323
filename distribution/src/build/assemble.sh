#!/bin/sh
# Assembles the distribution without its caches: a Java runtime that contains the command as one module, the files of the
# stores that are not part of it, SQLite's library, the launcher, the completions and the man page.
#
# usage: assemble.sh CHECKOUT VERSION DIRECTORY
#
# Takes the JDK of HOLDFAST_DISTRIBUTION_JDK, or the newest one that it finds. It must be 25 or newer: older ones make no
# caches of linked classes.
set -eu
checkout=$1 version=$2 out=$3
here=$(cd "$(dirname "$0")/.." && pwd)

die() {
    echo "assemble.sh: $*" >&2
    exit 1
}

major_of() {
    sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"
}

find_jdk() {
    newest=24 jdk=
    for home in "${HOLDFAST_DISTRIBUTION_JDK:-}" "${JAVA_HOME:-}" /usr/lib/jvm/* /opt/java/* /opt/jdk* \
        "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/*; do
        [ -n "$home" ] && [ -x "$home/bin/jlink" ] && [ -r "$home/release" ] || continue
        major=$(major_of "$home")
        [ "${major:-0}" -gt "$newest" ] || continue
        newest=$major jdk=$home
        [ "$home" != "${HOLDFAST_DISTRIBUTION_JDK:-}" ] || break
    done
    [ -n "$jdk" ] || die "no JDK 25 or newer found; set HOLDFAST_DISTRIBUTION_JDK"
}

find_jdk
rm -rf "$out"
work=$out.work
rm -rf "$work"
mkdir -p "$work/classes" "$work/modules" "$out/lib" "$out/lib/stores" "$out/share/doc/holdfast"

# One module of all classes. It is open and exports everything: the files of other stores and the drivers of users, which
# are outside of it, use the API and the libraries in it.
(cd "$work/classes" && "$jdk/bin/jar" xf "$checkout/cli/target/holdfast.jar")
mkdir -p "$work/native"
mv "$work/classes/org/sqlite/native" "$work/native/all"
# For Kotlin, which the command does not contain.
find "$work/classes/io/lettuce" -name '*Coroutines*' -exec rm {} +
# Of frameworks that the command does not contain.
for service in io.micrometer.context.ContextAccessor javax.enterprise.inject.spi.Extension \
    reactor.blockhound.integration.BlockHoundIntegration; do
    rm -f "$work/classes/META-INF/services/$service"
done
{
    echo "open module dev.holdfast.command {"
    for module in java.logging java.management java.naming java.sql jdk.httpserver jdk.jfr jdk.unsupported; do
        echo "    requires $module;"
    done
    (cd "$work/classes" && find . -name '*.class' | sed -e 's|^\./||' -e 's|/[^/]*$||' -e 's|/|.|g' | sort -u) |
        sed 's/.*/    exports &;/'
    for file in "$work/classes/META-INF/services"/*; do
        service=${file##*/}
        echo "    uses $service;"
        providers=$(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$file" | paste -s -d, -)
        echo "    provides $service with $providers;"
    done
    echo "}"
} >"$work/module-info.java"
"$jdk/bin/javac" --release 17 -Xlint:none -d "$work/classes" --module-version "$version" \
    --patch-module "dev.holdfast.command=$work/classes" "$work/module-info.java"
"$jdk/bin/jar" --create --file "$work/modules/command.jar" --module-version "$version" \
    --main-class dev.holdfast.cli.Main --date 2025-01-01T00:00:00Z -C "$work/classes" .

# Without compression, which the archive has anyway: 10 MB less to download, and 38 MB more on the disk.
"$jdk/bin/jlink" --module-path "$work/modules" --add-modules dev.holdfast.command,jdk.crypto.ec \
    --strip-debug --no-header-files --no-man-pages --compress=zip-0 --output "$out/lib/runtime"
# Symbols for debuggers, which no option of jlink removes: 5 MB.
strip --strip-unneeded "$out/lib/runtime/lib/server/libjvm.so"
# The licences are links to those of java.base, which some archives can't hold.
find "$out/lib/runtime/legal" -type l | while read -r link; do
    cp -L "$link" "$work/licence" && rm "$link" && mv "$work/licence" "$link"
done

cp "$work/native/all/Linux/x86_64/libsqlitejdbc.so" "$out/lib/"
for store in "$checkout"/cli/stores/*/; do
    store=${store%/}
    mkdir "$out/lib/stores/${store##*/}"
    tr ':' '\n' <"$store/target/files" | while IFS= read -r file || [ -n "$file" ]; do
        cp "$file" "$out/lib/stores/${store##*/}/"
    done
done
# Several stores use the same libraries: one copy of each in the archive.
for file in "$out"/lib/stores/etcd/*.jar; do
    for other in "$out"/lib/stores/*/"${file##*/}"; do
        [ "$file" = "$other" ] || ! cmp -s "$file" "$other" || ln -f "$file" "$other"
    done
done
cp -R "$here/files/." "$out/"
chmod 755 "$out/bin/holdfast" "$out/install.sh"
# The licences of what it contains.
cp "$work/classes/META-INF/LICENSE" "$out/LICENSE"
cp "$checkout/NOTICE" "$out/NOTICE"
cp -R "$work/classes/META-INF/licenses" "$out/share/doc/holdfast/"
cp "$work/classes/META-INF/LICENSE.txt" "$out/share/doc/holdfast/licenses/slf4j.txt"
cp -R "$work/classes/META-INF/maven/org.xerial/sqlite-jdbc" "$out/share/doc/holdfast/licenses/"

complete() {
    mkdir -p "$out/share/$2"
    "$out/bin/holdfast" completion "$1" >"$out/share/$2/$3"
}
complete bash bash-completion/completions holdfast
complete zsh zsh/site-functions _holdfast
complete fish fish/vendor_completions.d holdfast.fish
mkdir -p "$out/share/man/man1"
sh "$here/build/man.sh" "$out/bin/holdfast" >"$out/share/man/man1/holdfast.1"
rm -rf "$work"
