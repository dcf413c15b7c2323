#!/bin/sh
# Makes the directory of an npm package from the distribution, and packs it if npm is here.
#
# usage: npm.sh DIRECTORY VERSION
set -eu
from=$1 version=$2
npm=$(dirname "$from")/npm
rm -rf "$npm"
mkdir "$npm"
cp -R "$from" "$npm/package"
rm "$npm/package/install.sh"
cat >"$npm/package/package.json" <<END
{
  "name": "holdfast-linux-x64",
  "version": "$version",
  "description": "Runs commands under locks that hold across processes and machines",
  "homepage": "https://holdfast.dev",
  "license": "Apache-2.0",
  "bin": { "holdfast": "bin/holdfast" },
  "man": ["share/man/man1/holdfast.1"],
  "os": ["linux"],
  "cpu": ["x64"],
  "libc": ["glibc"]
}
END
command -v npm >/dev/null 2>&1 || {
    echo "npm.sh: no npm here; $npm/package is not packed" >&2
    exit 0
}
(cd "$npm" && npm pack --silent --offline ./package >/dev/null)
