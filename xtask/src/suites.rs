//! The suites of tests, all of them: what each tells, how it is run, and when.

/// A suite. What is a `&str` of commands is read by bash, in the project's folder.
pub struct Suite {
    pub name: &'static str,
    /// What it tells, in a line.
    pub tells: &'static str,
    /// Runs it: `"$@"` are its options. SEED is set; other variables are as they are.
    pub run: &'static str,
    /// Its options in `make test`, if it is a part of that.
    pub daily: Option<&'static str>,
    /// Its options where there is time, if it has more to tell then.
    pub nightly: Option<&'static str>,
    /// Make what it needs: each is run once, before all suites.
    pub needs: &'static [&'static str],
    /// The variable of the environment that leaves some of its cases out, if there is one.
    pub narrowed_by: &'static str,
    /// Whether none is to run beside it: it has two jobs of its own, or limits of time.
    pub alone: bool,
    /// Prints the names of its cases.
    pub cases: &'static str,
}

/// In the order in which they begin; those that run alone come before the others.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "rust",
        tells: "the Rust tests, in and beside the crates: time as a number, hooks against the originals, the patcher on C fixtures",
        run: "PROPTEST_RNG_SEED=$SEED bash tests/rust.bash \"${@:---workspace}\"",
        needs: &[],
        alone: true,
        cases: "$CARGO nextest list --cargo-quiet --workspace",
        ..DAILY
    },
    Suite {
        name: "loom",
        tells: "every interleaving of the structures that threads share",
        run: "RUSTFLAGS='--cfg loom' bash tests/rust.bash -p spindle-inbox --release --target-dir \"$TARGET/loom\" \"$@\"",
        needs: &[],
        alone: true,
        cases: "RUSTFLAGS='--cfg loom' $CARGO nextest list --cargo-quiet -p spindle-inbox --release --target-dir \"$TARGET/loom\"",
        ..DAILY
    },
    Suite {
        name: "phpt",
        tells: "the rules of behaviour that PHP code sees, by PHP's own runner",
        run: "tests/run-phpt \"$@\"",
        alone: true,
        cases: "phpt tests/phpt",
        ..DAILY
    },
    Suite {
        name: "embedding",
        tells: "coroutines of Rust code: a module with a part of its own, as further crates would write it; a debug build",
        // By itself it has other features, and what the Rust tests have compiled would be compiled once more.
        run: "$CARGO build --workspace
            SPINDLE_EXTENSION=$TARGET/debug/libspindle_embedding.so tests/run-phpt \"${@:-tests/embedding}\"",
        needs: &[],
        alone: true,
        cases: "phpt tests/embedding",
        ..DAILY
    },
    Suite {
        name: "authors",
        tells: "the API for authors of extensions: a probe of each function in the wrong places, and examples/extensions with and without Spindle",
        run: "[ \"$(ulimit -n)\" -ge 1100 ] || ulimit -n 1100
            tests/authors/run \"$@\"",
        cases: "tests/authors/run --list",
        ..DAILY
    },
    Suite {
        name: "seeds",
        tells: "the phpt tests with ready coroutines in another order: a program must not depend on it, and neither may these",
        run: "echo \"by the seed $SEED\"
            [ $# -gt 0 ] || set -- tests/phpt/{cancel,coroutine,errors,hazards,io,poll,primitives,scope,server,syntax}
            tests/run-phpt -d async.seed=$SEED \"$@\"",
        alone: true,
        cases: "phpt tests/phpt/{cancel,coroutine,errors,hazards,io,poll,primitives,scope,server,syntax}",
        ..DAILY
    },
    Suite {
        name: "matrix",
        tells: "real extensions and real servers: the same answers as stock PHP, and proof that calls suspend",
        run: "tests/extensions/run --matrix \"$@\"",
        cases: "ls tests/ext-matrix/cases",
        ..DAILY
    },
    Suite {
        name: "observers",
        tells: "debuggers, profilers and tracers across coroutines: Xdebug, pcov, Excimer, Tideways, and the engine's observers",
        run: "tests/sapi/run --observers \"$@\"",
        nightly: Some("--phpt"),
        cases: "tests/sapi/run --observers --list",
        ..DAILY
    },
    Suite {
        name: "matrix-itself",
        tells: "does the suite `matrix` fail where it should, with shims that are wrong?",
        run: "tests/extensions/run --matrix-itself \"$@\"",
        needs: &[],
        cases: "ls tests/ext-matrix/selftest/cases",
        ..DAILY
    },
    Suite {
        name: "extensions",
        tells: "calls of every installed extension, suspended, two at once: the same results as in turn on stock PHP; SEEDS='1 2'",
        run: "tests/extensions/run --seeds \"${SEEDS:-0 1}\" \"$@\"",
        cases: "ls tests/extensions/cases",
        ..DAILY
    },
    Suite {
        name: "sapi",
        tells: "php-fpm, php -S, php-cgi, phpdbg, embed and Apache: ends of scripts, and many requests without leftovers",
        run: "tests/sapi/run \"$@\"",
        nightly: Some("--long"),
        cases: "tests/sapi/run --list",
        ..DAILY
    },
    Suite {
        name: "server",
        tells: "the HTTP server and `spindle serve` with real clients: curl, wrk, Python, browsers, sockets closed at any time",
        run: "tests/server/run \"$@\"",
        nightly: Some("--long"),
        cases: "tests/server/run --list",
        ..DAILY
    },
    Suite {
        name: "strain",
        tells: "the HTTP server under strain: too many, slow, hostile clients, floods; --long with limits of time and memory",
        run: "case \" $* \" in *' --long '*) scripts/setup strain ;; esac
            tests/server/run --strain \"$@\"",
        nightly: Some("--long"),
        alone: true,
        cases: "tests/server/run --strain --list",
        ..DAILY
    },
    Suite {
        name: "faults",
        tells: "failing libc calls under PHP with real servers, compared with stock PHP",
        run: "tests/extensions/run --faults \"$@\"",
        nightly: Some("--all"),
        needs: &["make build", "make build-faults"],
        cases: "ls tests/faults/scenes",
        ..DAILY
    },
    Suite {
        name: "chaos",
        tells: "random coroutines, cancellations, scheduling and faults, by seed",
        run: "tests/extensions/run --chaos --seed $SEED \"$@\"",
        nightly: Some("--minutes 30"),
        needs: &["make build", "make build-faults"],
        cases: "sed '/^#/d; /^$/d' tests/chaos/seeds",
        ..DAILY
    },
    Suite {
        name: "compositions",
        tells: "programs that compose features of PHP at random, beside PHP alone; more of them: PROGRAMS=2000",
        run: "[ $# -gt 0 ] || set -- --programs \"${PROGRAMS:-100}\"
            tests/extensions/run --compositions \"$@\"",
        nightly: Some("--programs 2000"),
        cases: "echo \"seeds 1 to ${PROGRAMS:-100}\"; ls tests/compositions/found 2>/dev/null || :",
        ..DAILY
    },
    Suite {
        name: "syntax",
        tells: "the lexer and the rewriter against PHP's own lexer and 20,000 real sources",
        run: "tests/php-src/run --syntax \"$@\"",
        needs: &[],
        cases: "ls tests/syntax/probes; echo 'sources of PHP and of applications, which are fetched'",
        ..DAILY
    },
    Suite {
        name: "transpiled",
        tells: "programs with the operators, and the plain PHP that `spindle transpile` makes of them: both print the same",
        run: "tests/php-src/run --transpiled \"$@\"",
        cases: "ls tests/syntax/programs",
        ..DAILY
    },
    Suite {
        name: "php-src",
        tells: "PHP's own tests, each beside another coroutine: the same outcome as on stock PHP; all of them take half an hour",
        run: "tests/php-src/run \"$@\"",
        daily: Some("--sample"),
        nightly: Some(""),
        alone: true,
        cases: "sed '/^#/d' tests/php-src/sample",
        ..DAILY
    },
    Suite {
        name: "fibers-alone",
        tells: "PHP's own tests of fibers and generators, with the extension loaded and no coroutine",
        run: "tests/php-src/run --alone Zend/tests/fibers Zend/tests/generators \"$@\"",
        alone: true,
        cases: "echo Zend/tests/fibers Zend/tests/generators",
        ..DAILY
    },
    Suite {
        name: "fibers-inside",
        tells: "the same tests, each inside a coroutine",
        run: "tests/php-src/run --inside Zend/tests/fibers Zend/tests/generators \"$@\"",
        alone: true,
        cases: "echo Zend/tests/fibers Zend/tests/generators",
        ..DAILY
    },
    Suite {
        name: "applications",
        tells: "test suites of PHP software, in a coroutine and beside busy ones: the same outcomes as on stock PHP; takes an hour",
        run: "tests/applications/run \"$@\"",
        daily: Some("--sample"),
        nightly: Some(""),
        cases: "tests/applications/run --list",
        ..DAILY
    },
    Suite {
        name: "pages",
        tells: "pages of WordPress and phpMyAdmin through php-fpm: the same bytes",
        run: "tests/applications/run --pages \"$@\"",
        daily: Some("--only wordpress"),
        nightly: Some(""),
        cases: "tests/applications/run --pages --list",
        ..DAILY
    },
    Suite {
        name: "workers",
        tells: "Symfony's kernel and Slim in worker mode, 32 requests at once, and by 16 instances of packages: the answers of php-fpm; Messenger",
        run: "tests/applications/run --workers \"$@\"",
        daily: Some("--seeds 0"),
        nightly: Some(""),
        cases: "tests/applications/run --workers --list",
        ..DAILY
    },
    Suite {
        name: "laravel",
        tells: "packages/laravel: what a request leaves to the next one, requests that do not return, commands, and 20 workers of a queue",
        run: "tests/applications/run --laravel \"$@\"",
        cases: "tests/applications/run --laravel --list",
        ..DAILY
    },
    Suite {
        name: "shared",
        tells: "one logger of Monolog for 20 coroutines: no record is lost or mixed up",
        run: "tests/applications/run --shared \"$@\"",
        cases: "tests/applications/run --shared --list",
        ..DAILY
    },
    Suite {
        name: "orms",
        tells: "Doctrine and Eloquent on one pool, in 40 coroutines and 16 instances, with real servers: the rows that should be there",
        run: "tests/applications/run --orms \"$@\"",
        cases: "tests/applications/run --orms --list",
        ..DAILY
    },
    Suite {
        name: "phpunit",
        tells: "tests of PHPUnit with packages/phpunit: which fail for what they leave, and what is said",
        run: "tests/phpunit/run \"$@\"",
        cases: "tests/phpunit/run --list",
        ..DAILY
    },
    Suite {
        name: "loops",
        tells: "event loops in PHP on Async\\Poll, by the contracts of Revolt and ReactPHP; more where SPINDLE_SOURCES names sources",
        run: "tests/applications/run --loops \"$@\"",
        cases: "tests/applications/run --loops --list",
        ..DAILY
    },
    Suite {
        name: "docs",
        tells: "every example of README.md and docs/",
        run: "tests/docs/run \"$@\"",
        cases: "grep -nE '^```(php|console)$' README.md docs/*.md docs/*/*.md",
        ..DAILY
    },
    Suite {
        name: "types",
        tells: "what analysers infer of packages/ide-helper, and that it happens; SPINDLE_ANALYSER names Mago",
        run: "tests/docs/run --types \"$@\"",
        cases: "ls tests/types/cases",
        ..DAILY
    },
    Suite {
        name: "demo",
        tells: "examples/demo.php, with PostgreSQL, MariaDB and Redis",
        run: "DEMO_SERVERS=1 \"${PHP:-php}\" examples/demo.php && echo '1 passed, 0 failed' || { echo '0 passed, 1 failed'; exit 1; }",
        cases: "echo examples/demo.php",
        ..DAILY
    },
    Suite {
        name: "examples",
        tells: "the programs of examples/: the supervisor with 1,000 clients, the pool of PDO, workers of queues, the API, the upload, the proxy",
        run: "[ \"$(ulimit -n)\" -ge 1100 ] || ulimit -n 1100
            tests/docs/run --examples \"$@\"",
        cases: "tests/docs/run --examples --list",
        ..DAILY
    },
    // --- by night, or by hand: hours, root, or other machines ---
    Suite {
        name: "packages",
        tells: "each way to install it, from nothing, in a Debian of its own: root, the network, ten minutes",
        run: "scripts/setup packages
            tests/packages/run \"$@\"",
        cases: "tests/packages/run --list",
        ..NIGHTLY
    },
    Suite {
        name: "calls",
        tells: "functions of all extensions, called at random by coroutines that share what they are called with: an hour",
        run: "tests/extensions/run --calls \"$@\"",
        cases: "echo 'a million calls, by seeds from 1 on'",
        ..NIGHTLY
    },
    Suite {
        name: "asan",
        tells: "the phpt tests with Spindle built for AddressSanitizer",
        run: "tests/run-phpt --asan \"$@\"",
        needs: &[],
        cases: "phpt tests/phpt",
        ..NIGHTLY
    },
    Suite {
        name: "mutations",
        tells: "each rule disabled in turn: which test notices? An hour or two",
        run: "tests/mutations/run \"$@\"",
        needs: &[],
        cases: "tests/mutations/run --list",
        ..NIGHTLY
    },
    Suite {
        name: "ports",
        tells: "other versions of PHP, other processors and Alpine, in roots that it makes; one: PORTS=php-8.4. Hours, and root",
        run: "tests/ports/run \"$@\"",
        needs: &[],
        narrowed_by: "PORTS",
        cases: "sed -n 's/^\\([a-z][^ ]*\\) .*/\\1/p' tests/ports/table",
        ..NIGHTLY
    },
];

/// A suite of `make test` that needs the release build.
const DAILY: Suite = Suite {
    name: "",
    tells: "",
    run: "",
    daily: Some(""),
    nightly: None,
    needs: &["make build"],
    narrowed_by: "",
    alone: false,
    cases: "",
};

/// A suite that `make test` leaves out.
const NIGHTLY: Suite = Suite { daily: None, nightly: Some(""), alone: true, ..DAILY };

/// What bash reads before each of these commands.
pub const PRELUDE: &str = "set -eu -o pipefail; phpt() { find \"$@\" -name '*.phpt' | sort; }\n";
