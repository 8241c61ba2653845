# Functions for the drills in drills.md. Run `source docs/drills.sh` in bash, in a copy of the repository.

export PASSBOOK_URL="${PASSBOOK_URL:-http://localhost:8787}"
PATH="$PWD/node_modules/.bin:$PATH"

# serve: starts `npm run dev`, or restarts it with the settings of .dev.vars. The log is in dev.log.
serve() {
  serve_unready
  wait_for 200 /readyz > /dev/null
}

# serve_unready: the same, but does not wait until the service is ready.
serve_unready() {
  stop
  npm run dev -- --port "${PASSBOOK_URL##*:}" --inspector-port=0 >> dev.log 2>&1 &
  echo $! > .wrangler/drill.pid
  wait_for 200 /healthz > /dev/null
}

# stop: stops what `serve` started.
stop() {
  mkdir -p .wrangler
  [ -f .wrangler/drill.pid ] || return 0
  kill "$(cat .wrangler/drill.pid)" 2> /dev/null
  while kill -0 "$(cat .wrangler/drill.pid)" 2> /dev/null; do sleep 0.2; done
  while curl -s -o /dev/null "$PASSBOOK_URL/healthz"; do sleep 0.2; done
  rm .wrangler/drill.pid
}

# reset: undoes earlier drills: code, settings and data. Only in a copy that has a file .drills.
reset() {
  [ -f .drills ] || { echo "This deletes changes and data. Run it in a copy, after: touch .drills" && return 1; }
  stop
  git checkout -q -- . && git clean -fdqx -e .drills -e node_modules
}

passbook() { node src/cli/main.ts "$@"; }

# sign_in NAME: signs NAME@example.com in, with a cookie jar, and prints the session token.
sign_in() {
  curl -s -o /dev/null -w '%{redirect_url}' -c ".wrangler/$1.jar" "$PASSBOOK_URL/signin/dev" \
    -d "email=$1@example.com" -d redirect_to=http://localhost:3000/ | sed 's/.*token=//'
}

# call TOKEN PATH [BODY]: a request as an app sends it. Prints the status and the JSON body.
call() {
  curl -s -w '\n%{http_code} ' -H "Authorization: Bearer $1" -H 'Content-Type: application/json' \
    ${3:+-d "$3"} ${IDENTITY:+-H "Passbook-Identity: $IDENTITY"} "$PASSBOOK_URL$2" | sed '$!{h;d};G;s/\n//'
}

# post_dev PATH BODY: a request to what only development has.
post_dev() { curl -s -H 'Content-Type: application/json' -d "$2" "$PASSBOOK_URL$1"; }

# mint NAME [SCOPES]: a personal access token of a person who is signed in, by device login. Prints it.
mint() {
  local login code
  login=$(curl -s -X POST "$PASSBOOK_URL/api/device/start")
  code=$(echo "$login" | field user_code)
  curl -s -o /dev/null -b ".wrangler/$1.jar" -H "Origin: $PASSBOOK_URL" -H 'Content-Type: application/json' \
    "$PASSBOOK_URL/api/device/complete" -d "{\"user_code\":\"$code\",\"scopes\":${2:-[\"read\",\"write\"]}}"
  curl -s "$PASSBOOK_URL/api/device/poll?device_code=$(echo "$login" | field device_code)" | field token
}

# back_up_directory, restore_directory: a backup of the local D1 DIRECTORY, and its restore. Both restart the server.
find_directory() {
  stop
  # The newest pages may still be in the write-ahead log next to the database.
  DIRECTORY_FILE=$(grep -l 'CREATE TABLE `identities`' .wrangler/state/v3/d1/*/*.sqlite* | head -n 1 | sed 's/-wal$//')
  [ -n "$DIRECTORY_FILE" ]
}
back_up_directory() {
  find_directory || return 1
  mkdir -p .wrangler/backup && cp "$DIRECTORY_FILE"* .wrangler/backup/ && serve
}
restore_directory() {
  stop
  rm "${DIRECTORY_FILE:?}"* && cp .wrangler/backup/* "$(dirname "$DIRECTORY_FILE")" && serve
}

# lose_storage IDENTITY: deletes what the account's object has stored. Restarts the server.
lose_storage() {
  local file
  stop
  file=$(grep -l "$1" .wrangler/state/v3/do/*-Account/*.sqlite* | head -n 1 | sed 's/-wal$//')
  rm "${file:?}"* && serve
}

# lose_directory: an empty database takes the place of the local D1 DIRECTORY, which nobody can restore. Restarts the server.
lose_directory() {
  find_directory && rm "$DIRECTORY_FILE"* && serve_unready
}

# field NAME: the first value of a field in JSON.
field() { grep -o "\"$1\": *\"\?[^\",}]*" | head -n 1 | sed 's/^[^:]*: *"\?//'; }

# identity TOKEN: the identity of a session token.
identity() { call "$1" /api/me | field identity_id; }

# operate: lets `passbook admin` act as the operator of .dev.vars.
operate() {
  sign_in operator > /dev/null
  PASSBOOK_TOKEN=$(mint operator '["admin"]')
  export PASSBOOK_TOKEN
}

# wait_for STATUS PATH [TOKEN]: waits until a request has this status, then prints the response.
wait_for() {
  for _ in $(seq 60); do
    case $(call "${3:-}" "$2") in "$1"*) call "${3:-}" "$2" && return ;; esac
    sleep 1
  done
  echo "no response with status $1" && return 1
}

# add_migration SQL OLDEST_BUILD: adds a migration of the accounts to the code, as a developer does.
add_migration() {
  drizzle-kit generate --custom --name drill --config drizzle/account.config.ts > /dev/null
  echo "$1" > drizzle/account/0001_drill.sql
  sed -i "s/OLDEST_BUILDS = \[1\]/OLDEST_BUILDS = [1, $2]/" src/account/sql/migrate.ts
}

# status PATH [TOKEN]: the status of a request.
status() { call "${2:-}" "$1" | cut -c 1-3; }

# send_event SECRET: sends an event of Stripe that is signed with this secret. Prints the status.
send_event() {
  local body now signature
  body='{"id":"evt_drill","type":"checkout.session.completed","data":{"object":{"id":"cs_test_drill"}}}'
  now=$(date +%s)
  signature=$(printf '%s' "$now.$body" | openssl dgst -sha256 -hmac "$1" | sed 's/.*= //')
  curl -s -o /dev/null -w '%{http_code}\n' -H "Stripe-Signature: t=$now,v1=$signature" -d "$body" \
    "$PASSBOOK_URL/webhooks/stripe"
}

# query DATABASE SQL: the rows of a local D1 database, as JSON.
query() { wrangler d1 execute "$1" --local --json --command "$2" 2> /dev/null; }
