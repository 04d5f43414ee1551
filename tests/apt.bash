# Sourced by the scripts that fetch packages of the distribution without installing them.
#
# apt verifies them as it does everything. The system's configuration has no part in it and stays as it is: the list of
# sources is derived from the system's own and lies, like the lists of packages, in a temporary folder. SPINDLE_RELEASE names another
# release of it, as `trixie`, for packages of PHP code.

# Images of containers keep apt from writing its index, which each call would make anew: here it is written.
# Sets the array `apt`, the options of all further calls of apt's commands, and loads the lists of packages.
own_apt() { # FOLDER TYPES
    local work=$1 types=$2 file type
    mkdir -p "$work/sources.d" "$work/lists/partial" "$work/cache/archives/partial" "$work/source"
    # Where packages come from, also or only asked for sources; keys and options stay as they are.
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        case $file in
            *.list)
                for type in $types; do
                    sed -nE "s/^[[:space:]]*deb(-src)?[[:space:]]/$type /p" "$file"
                done | sort -u
                ;;
            *.sources)
                awk -v types="$types" -v release="${SPINDLE_RELEASE-}" 'BEGIN { RS = ""; IGNORECASE = 1 }
                    release != "" && /\nSuites: [^\n]*-security/ { next }
                    { gsub(/Types:[^\n]*/, "Types: " types); if (release != "") gsub(/Suites:[^\n]*/, "Suites: " release); print $0 "\n" }' "$file"
                ;;
        esac >"$work/sources.d/$(basename "$file")" 2>/dev/null || :
    done
    apt=(-q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/sources.d" -o "Dir::State::Lists=$work/lists"
        -o "Dir::Cache=$work/cache" -o Dir::Cache::pkgcache=pkgcache.bin -o Dir::Cache::srcpkgcache=srcpkgcache.bin -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=2)
    apt-get "${apt[@]}" update >"$work/log" 2>&1 || echo "fetch: apt-get update failed, trying with what it has got" >&2
}
