#!/usr/bin/env bash
# Prints the SQL that sets this member's accounts from the mounted Secret. None of it enters the binary log. `accounts.sh start` is
# mysqld's init_file at every start; `accounts.sh running` is for a changed Secret and leaves the server as writable as it was.
set -euo pipefail
. "${CONFIG:-/etc/mysql-operator}/env.sh"
secret() { # secret KEY: its value without line breaks at the end, as a SQL string literal
  local value; value=$(<"$CREDENTIALS/$1")
  [ -n "$value" ] || { say "the Secret has no $1"; return 1; }
  value=${value//\\/\\\\}; value=${value//\'/\\\'}; value=${value//$'\n'/\\n}
  printf "'%s'" "$value"
}
root_key='root-password'; [ ! -e "$CREDENTIALS/user-root-password" ] || root_key='user-root-password'
# all of them before the first line is printed: a missing one must end this, not make an account without a password
operator=$(secret operator-password); replication=$(secret replication-password); root=$(secret "$root_key")
account() { # account NAME PASSWORD (a literal)
  printf "CREATE USER IF NOT EXISTS '%s'@'%%';\n" "$1"
  printf "ALTER USER '%s'@'%%' IDENTIFIED BY %s REQUIRE SSL;\n" "$1" "$2"
}
echo "SET SESSION sql_log_bin = 0;"
echo "SET SESSION sql_mode = '';"
echo "SET NAMES utf8mb4;"
[ "$1" = start ] || echo "SET @readonly = @@global.super_read_only;"
echo "SET GLOBAL super_read_only = OFF;"
# who may do what here locally: the operating system user mysql, that is these scripts
echo "CREATE USER IF NOT EXISTS 'mysql'@'localhost' IDENTIFIED WITH auth_socket;"
echo "GRANT ALL ON *.* TO 'mysql'@'localhost' WITH GRANT OPTION;"
account mysql_operator "$operator"
echo "GRANT ALL ON *.* TO 'mysql_operator'@'%' WITH GRANT OPTION;"
account mysql_replication "$replication"
echo "GRANT REPLICATION SLAVE ON *.* TO 'mysql_replication'@'%';"
case ${SERVER_VERSION:-9} in
  5.*) ;;
  *) for privilege in CONNECTION_ADMIN BACKUP_ADMIN CLONE_ADMIN GROUP_REPLICATION_STREAM; do
       echo "GRANT $privilege ON *.* TO 'mysql_replication'@'%';"
     done ;;
esac
account root "$root"
echo "GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;"
printf "ALTER USER 'root'@'localhost' IDENTIFIED BY %s;\n" "$root"
if [ "$1" = start ]; then echo "SET GLOBAL super_read_only = ON;"; else echo "SET GLOBAL super_read_only = @readonly;"; fi
