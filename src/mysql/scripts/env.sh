# What every script here sources: names and places of this member. Needs bash only.
# shellcheck shell=bash disable=SC2034
CONFIG=${CONFIG:-/etc/mysql-operator}        # my.cnf, scripts, nudge-url (the ConfigMap)
CREDENTIALS=${CREDENTIALS:-/etc/mysql-credentials}
VOLUME=${VOLUME:-/var/lib/mysql}
DATA=$VOLUME/data
RUN=${RUN:-/var/run/mysqld}
SOCKET=$RUN/mysqld.sock
STATE=$RUN/state                             # "SECONDS STATE ROLE UNREACHABLE TOTAL", written by watch.sh
MYSQLD=${MYSQLD:-mysqld}
MYSQL=${MYSQL:-mysql}
ORDINAL=${POD_NAME##*-}
HOST=${HOST_NAME:-$POD_NAME.$NODES_SERVICE.$POD_NAMESPACE.svc}
PORT=${SQL_PORT:-3306}
say() { printf '%(%Y-%m-%dT%H:%M:%SZ)T %s\n' -1 "$*" >&2; }
# The local account is known by the operating system user that connects (auth_socket): no password to keep, to leak or to rotate.
sql() { "$MYSQL" --no-defaults --batch --skip-column-names --socket="$SOCKET" --user=mysql "$@"; }
