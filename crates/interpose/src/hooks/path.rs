//! Calls on paths, in the thread pool: the calls that `async.file_pool = all` adds.
//!
//! Their jobs are bounded, so they are waited for and nothing is undone. A job owns its paths. A relative one starts
//! from what it started from at the call: the working directory is opened for the job, a directory of the caller's is
//! referenced. The umask is that of the process when the file is created.
//!
//! Where the C library has no form that takes a directory, a call with a relative path is made in place.

mod attributes;
mod directories;
pub(crate) mod job;
mod names;

use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};

pub use attributes::*;
pub use directories::*;
pub use names::*;

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const WORKER: Behavior =
        Behavior { wait: WaitKind::Worker, summary: "in the thread pool", on_cancel: on_cancel::NONE };
    const ABSOLUTE: Behavior = Behavior {
        wait: WaitKind::Worker,
        summary: "in the thread pool; relative paths in place",
        on_cancel: on_cancel::NONE,
    };
    const SCAN: Behavior = Behavior {
        wait: WaitKind::Worker,
        summary: "the entries are read ahead in the thread pool",
        on_cancel: on_cancel::NONE,
    };
    const GLOB: Behavior = Behavior {
        wait: WaitKind::Worker,
        summary: "in the thread pool; relative patterns, and those with callbacks, in place",
        on_cancel: on_cancel::NONE,
    };
    hooked_calls![
        c"stat" => stat, WORKER;
        c"stat64" => stat, WORKER;
        c"lstat" => lstat, WORKER;
        c"lstat64" => lstat, WORKER;
        c"fstatat" => fstatat, WORKER;
        c"fstatat64" => fstatat, WORKER;
        c"statx" => statx, WORKER;
        c"__xstat" => xstat, WORKER;
        c"__xstat64" => xstat, WORKER;
        c"__lxstat" => lxstat, WORKER;
        c"__lxstat64" => lxstat, WORKER;
        c"__fxstatat" => fxstatat, WORKER;
        c"__fxstatat64" => fxstatat, WORKER;
        c"statfs" => statfs, WORKER;
        c"statfs64" => statfs, WORKER;
        c"statvfs" => statvfs, WORKER;
        c"statvfs64" => statvfs, WORKER;
        c"access" => access, WORKER;
        c"faccessat" => faccessat, WORKER;
        c"eaccess" => eaccess, WORKER;
        c"euidaccess" => eaccess, WORKER;
        c"chmod" => chmod, WORKER;
        c"fchmodat" => fchmodat, WORKER;
        c"chown" => chown, WORKER;
        c"lchown" => lchown, WORKER;
        c"fchownat" => fchownat, WORKER;
        c"utime" => utime, WORKER;
        c"utimes" => utimes, WORKER;
        c"lutimes" => lutimes, WORKER;
        c"utimensat" => utimensat, WORKER;
        c"truncate" => truncate, ABSOLUTE;
        c"truncate64" => truncate, ABSOLUTE;
        c"ftruncate" => ftruncate, WORKER;
        c"ftruncate64" => ftruncate, WORKER;
        c"rename" => rename, WORKER;
        c"renameat" => renameat, WORKER;
        c"link" => link, WORKER;
        c"linkat" => linkat, WORKER;
        c"symlink" => symlink, WORKER;
        c"symlinkat" => symlinkat, WORKER;
        c"readlink" => readlink, WORKER;
        c"readlinkat" => readlinkat, WORKER;
        c"unlink" => unlink, WORKER;
        c"unlinkat" => unlinkat, WORKER;
        c"rmdir" => rmdir, WORKER;
        c"mkdir" => mkdir, WORKER;
        c"mkdirat" => mkdirat, WORKER;
        c"mkstemp" => mkstemp, ABSOLUTE;
        c"mkstemp64" => mkstemp, ABSOLUTE;
        c"realpath" => realpath, WORKER;
        #[cfg(target_env = "gnu")]
        c"__realpath_chk" => realpath_chk, WORKER;
        c"opendir" => opendir, Behavior { wait: WaitKind::Worker, summary: "in the thread pool, where the entries are read ahead for readdir", on_cancel: on_cancel::NONE };
        c"scandir" => scandir, SCAN;
        c"scandir64" => scandir, SCAN;
        c"glob" => glob, GLOB;
        c"glob64" => glob, GLOB;
    ]
}
