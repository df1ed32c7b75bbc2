#!/usr/bin/env bash
# Prints the SQL that sets this member's accounts from the mounted Secret. None of it enters the binary log. `accounts.sh start` is
# mysqld's init_file at every start; `accounts.sh running` is for a changed Secret: each statement stands alone, so that one that
# fails (a password that the server's policy refuses) leaves no member writable that is not the primary.
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
operating_system_user() {
  local name uid
  while IFS=: read -r name _ uid _; do [ "$uid" != "$EUID" ] || { printf '%s' "$name"; return; }; done </etc/passwd
}
account() { # account NAME PASSWORD (a literal)
  printf "CREATE USER IF NOT EXISTS '%s'@'%%';\n" "$1"
  printf "ALTER USER '%s'@'%%' IDENTIFIED BY %s REQUIRE SSL;\n" "$1" "$2"
}
echo "SET SESSION sql_log_bin = 0;"
echo "SET SESSION sql_mode = '';"
echo "SET NAMES utf8mb4;"
echo "SET GLOBAL super_read_only = OFF;"
# the local account is whoever runs these scripts, known by the operating system: AS covers an image that calls its user otherwise
echo "CREATE USER IF NOT EXISTS 'mysql'@'localhost' IDENTIFIED WITH auth_socket;"
echo "ALTER USER 'mysql'@'localhost' IDENTIFIED WITH auth_socket AS '$(operating_system_user)';"
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
if [ "$1" = start ]; then
  echo "SET GLOBAL super_read_only = ON;"
  exit
fi
case ${SERVER_VERSION:-9} in
  5.*) primary="SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'group_replication_primary_member'" ;;
  *) primary="SELECT MEMBER_ID FROM performance_schema.replication_group_members WHERE MEMBER_ROLE = 'PRIMARY'" ;;
esac
echo "SET GLOBAL super_read_only = NOT (@@server_uuid <=> ($primary LIMIT 1));"
# a member that is expelled rejoins by itself, with the password that it knows; at a start the operator gives it one with the order to join
case ${SERVER_VERSION:-9} in
  5.*|8.0.[0-9]|8.0.1[0-9]|8.0.2[0-2]) echo "CHANGE MASTER TO MASTER_USER = 'mysql_replication', MASTER_PASSWORD = $replication FOR CHANNEL 'group_replication_recovery';" ;;
  *) echo "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'mysql_replication', SOURCE_PASSWORD = $replication FOR CHANNEL 'group_replication_recovery';" ;;
esac
