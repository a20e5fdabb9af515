# Sourced by the starters of this folder: what they share. A starter sets `service` and defines
#   installed        status 0 where nothing is to be fetched
#   install          fetches it into $home, by ordinary package clients; says why not on stderr
#   launch           starts its processes by `background NAME COMMAND…`; $run is an empty folder for their data
#   ready            status 0 once it answers
#   tell             prints NAME=VALUE lines: what a test must know
# and ends with `service_main "$@"`.
set -u
services=${SILT_SERVICES:-${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}/.cache/silt/services}

say() { echo "service $service: $*" >&2; }
has() { command -v "$1" >/dev/null 2>&1; }
need() { has "$1" || { say "cannot be installed here: there is no $1 ($2)"; return 1; }; }

# A number of ours for a pid that is used again by somebody else: when the process began.
began_at() { local stat; stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1; stat=${stat##*) }; set -- $stat; echo "${20}"; }
alive() {
    local pid began
    [ -f "$1" ] && read -r pid began <"$1" && [ -n "$began" ] && [ "$(began_at "$pid")" = "$began" ]
}

# No session of its own: whoever ends the process group of the test ends the servers too.
background() {
    local what=$1
    shift
    "$@" >"$run/$what.log" 2>&1 </dev/null &
    echo "$! $(began_at $!)" >"$run/$what.pid"
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
# A port nobody listens at, below those that the system gives away by itself; $1: the wish.
free_port() {
    local port=${1:-}
    if [ -z "$port" ]; then
        port=$((RANDOM % 10000 + 20000))
        while listens $port; do port=$((RANDOM % 10000 + 20000)); done
    fi
    echo $port
}

all_alive() { local file; for file in "$run"/*.pid; do alive "$file" || return 1; done; }

service_stop() {
    local file pid began turn
    for file in "$run"/*.pid; do alive "$file" && { read -r pid began <"$file"; kill "$pid" 2>/dev/null; }; done
    for file in "$run"/*.pid; do
        for turn in $(seq 50); do alive "$file" || break; sleep 0.1; done
        alive "$file" && { read -r pid began <"$file"; kill -9 "$pid" 2>/dev/null; }
    done
    rm -rf "$run"
}

service_start() {
    local try until
    if [ -f "$run/environment" ] && all_alive; then cat "$run/environment"; return; fi
    for try in 1 2 3; do            # a port may be taken between the look and the server's bind
        service_stop
        mkdir -p "$run/data" || return 1
        launch
        until=$((SECONDS + 180))
        while [ $SECONDS -lt $until ]; do
            if ready; then tell >"$run/environment"; cat "$run/environment"; return; fi
            all_alive || break
            sleep 0.1
        done
        say "did not start; its log:"
        tail -n 15 "$run"/*.log >&2
    done
    service_stop
    return 1
}

service_install() {
    if installed; then return; fi
    mkdir -p "$home"
    say "installing into $home"
    ( flock 9 && { installed || { install && installed; }; } ) 9>"$services/.$service.lock" || { say "could not be installed"; return 1; }
}

service_main() {
    case ${1:-} in start | stop | install | installed) ;; *) echo "usage: $0 install|installed|start [FOLDER]|stop [FOLDER]" >&2; exit 2 ;; esac
    home=$services/$service
    run=${2:-${TMPDIR:-/tmp}/silt-service-$(id -u)/$service}
    case $1 in
        install)   service_install ;;
        installed) installed ;;
        stop)      service_stop ;;
        start)     service_install && service_start ;;
    esac
}

# --- the package clients ---
npm_install() { need npm "Node.js with npm" && (mkdir -p "$home/npm" && cd "$home/npm" && npm install --silent --no-save --no-audit --no-fund --prefix "$home/npm" "$1" >&2); }
# go_install MODULE@VERSION: a compiler older than the module's wish fetches the one it names where the settings allow that.
go_install() { need go "the Go toolchain, 1.24 or newer" && GOBIN=$home GOFLAGS=-buildvcs=false go install -ldflags='-s -w' "$1" >&2; }
