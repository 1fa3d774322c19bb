#!/bin/sh
# Installs the command `cupel` from a published archive, after its checksum was verified.
#
#   CUPEL_RELEASES  folder or address that holds the archives; a release's own copy of this script knows its address
#   CUPEL_VERSION   the version, such as 2.0.0
#   CUPEL_PREFIX    where to install; $HOME/.local by default (bin, share/man, completions)
#
# Nothing is installed unless the archive is what its .sha256 says, and the old command is replaced in one step.
set -eu

releases=${CUPEL_RELEASES:-@RELEASES@}
version=${CUPEL_VERSION:-@VERSION@}
prefix=${CUPEL_PREFIX:-${HOME:?set HOME or CUPEL_PREFIX}/.local}

fail() { printf 'cupel: %s\n' "$1" >&2; exit 1; }
case $releases in @*) fail 'set CUPEL_RELEASES to the folder or address of the archives' ;; esac
case $version in @*) fail 'set CUPEL_VERSION, such as 2.0.0' ;; esac

case "$(uname -s) $(uname -m)" in
  'Linux x86_64') target=x86_64-unknown-linux-gnu ;;
  'Linux aarch64' | 'Linux arm64') target=aarch64-unknown-linux-gnu ;;
  'Darwin x86_64') target=x86_64-apple-darwin ;;
  'Darwin arm64') target=aarch64-apple-darwin ;;
  *) fail "there is no archive for $(uname -s) $(uname -m); cargo install cupel-cli builds the command" ;;
esac
name=cupel-$version-$target
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM

fetch() {
  case $releases in
    https://*)
      if command -v curl >/dev/null; then
        curl --proto '=https' --tlsv1.2 -fsSL "$releases/$1" -o "$scratch/$1"
      else
        wget -q --https-only -O "$scratch/$1" "$releases/$1"
      fi ;;
    http://*) fail "$releases is not encrypted; use https" ;;
    *) cp "$releases/$1" "$scratch/$1" ;;
  esac || fail "cannot fetch $releases/$1"
}

fetch "$name.tar.gz"
fetch "$name.tar.gz.sha256"
expected=$(cut -d ' ' -f 1 < "$scratch/$name.tar.gz.sha256")
if command -v sha256sum >/dev/null; then
  actual=$(sha256sum "$scratch/$name.tar.gz" | cut -d ' ' -f 1)
else
  actual=$(shasum -a 256 "$scratch/$name.tar.gz" | cut -d ' ' -f 1)
fi
[ -n "$expected" ] && [ "$expected" = "$actual" ] ||
  fail "$name.tar.gz has SHA-256 $actual, expected $expected; nothing was installed"

tar -xzf "$scratch/$name.tar.gz" -C "$scratch"
mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions"
cp "$scratch/$name"/man/*.1 "$prefix/share/man/man1/"
cp "$scratch/$name/completions/cupel.bash" "$prefix/share/bash-completion/completions/cupel"
cp "$scratch/$name/cupel" "$prefix/bin/.cupel.new"
chmod 755 "$prefix/bin/.cupel.new"
mv -f "$prefix/bin/.cupel.new" "$prefix/bin/cupel"
printf 'cupel %s is in %s\n' "$version" "$prefix/bin"
case ":$PATH:" in *":$prefix/bin:"*) ;; *) printf 'add it to PATH: export PATH="%s:$PATH"\n' "$prefix/bin" ;; esac
