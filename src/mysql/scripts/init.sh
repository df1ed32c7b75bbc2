#!/usr/bin/env bash
# Makes the data directory when there is none: into a folder beside it, then a rename. Killed at any moment, the next start does the
# right thing; a data directory that is there is never touched.
set -euo pipefail
. "${CONFIG:-/etc/mysql-operator}/env.sh"
[ -d "$DATA/mysql" ] && exit 0
if [ -e "$DATA" ] && [ -n "$(ls -A "$DATA")" ]; then
  say "$DATA holds files but no MySQL data: not touching it. Empty the volume, or put the data back."
  exit 1
fi
say "making a new data directory"
rm -rf "$DATA.new" # of an attempt that was cut short
"$MYSQLD" --no-defaults --initialize-insecure --datadir="$DATA.new" --tmpdir="${TMPDIR:-/tmp}" ${MYSQLD_INIT_OPTIONS:-}
rm -f "$DATA.new/auto.cnf" # the server makes its own uuid at its first start
sync
[ ! -e "$DATA" ] || rmdir "$DATA"
mv "$DATA.new" "$DATA"
sync
say "data directory is ready"
